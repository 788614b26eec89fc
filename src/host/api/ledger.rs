//! `popcorn.ledger`: the record files.

use std::path::{Path, PathBuf};

use mlua::{Lua, MultiValue, Table, Value};
use serde_json::Value as Json;

use super::arguments::{exactly, string};
use crate::host::{HostError, cache_root, json, to_lua};
use crate::ledger;

pub(super) fn install(lua: &Lua, popcorn: &Table) -> mlua::Result<()> {
    let module = lua.create_table()?;
    module.set(
        "path",
        lua.create_function(|_, args: MultiValue| {
            let [op, log] = exactly("popcorn.ledger.path", args)?;
            let path = match log {
                Value::Nil => log_of(&string("popcorn.ledger.path", &op)?)?,
                log => PathBuf::from(string("popcorn.ledger.path", &log)?),
            };
            Ok(path.display().to_string())
        })?,
    )?;
    module.set(
        "ops",
        lua.create_function(|lua, args: MultiValue| {
            let [] = exactly("popcorn.ledger.ops", args)?;
            Ok(to_lua(lua, &recorded_ops()?)?)
        })?,
    )?;
    module.set(
        "check_writable",
        lua.create_function(|_, args: MultiValue| {
            let [path] = exactly("popcorn.ledger.check_writable", args)?;
            let path = string("popcorn.ledger.check_writable", &path)?;
            ledger::check_writable(Path::new(&path)).map_err(|error| {
                let message = format!("{error}; nothing was run. Make it writable, or choose a file with --log");
                HostError::environment(message).into()
            })
        })?,
    )?;
    module.set(
        "append",
        lua.create_function(|lua, args: MultiValue| {
            let [path, record] = exactly("popcorn.ledger.append", args)?;
            let path = string("popcorn.ledger.append", &path)?;
            let line = json::encode(lua, &record)?;
            // A finished experiment is not lost to a full disk: its line is in the error's detail.
            ledger::append(Path::new(&path), &line).map_err(|error| {
                let mut fault = HostError::environment(format!(
                    "{error}; the log is as it was. Free some space and append the line below, or run again with --log"
                ));
                fault.detail = line;
                fault.into()
            })
        })?,
    )?;
    module.set(
        "read",
        lua.create_function(|lua, args: MultiValue| {
            let [path] = exactly("popcorn.ledger.read", args)?;
            Ok(read(lua, Path::new(&string("popcorn.ledger.read", &path)?))?)
        })?,
    )?;
    popcorn.set("ledger", module)
}

fn log_of(op: &str) -> Result<PathBuf, HostError> {
    Ok(cache_root()?.join("loop").join(format!("{op}.jsonl")))
}

/// Names of the ops with a record file, sorted.
fn recorded_ops() -> Result<Vec<String>, HostError> {
    let folder = cache_root()?.join("loop");
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(HostError::environment(format!("{}: cannot list: {error}", folder.display()))),
    };
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".jsonl").map(str::to_owned))
        .collect();
    names.sort();
    Ok(names)
}

/// `{ entries = { record… }, problems = { "line 3: …" … } }`, oldest first. A record is the line's fields, with
/// absent ones nil and `line` its number.
fn read(lua: &Lua, path: &Path) -> Result<Table, HostError> {
    let log = ledger::read(path)
        .map_err(|error| HostError::environment(format!("cannot read the log {}: {error}", path.display())))?;
    let entries = lua.create_table()?;
    for entry in log.entries {
        let mut fields = entry.fields;
        fields.retain(|_, value| !value.is_null());
        fields.insert("v".to_owned(), Json::from(entry.version));
        fields.insert("line".to_owned(), Json::from(entry.line));
        entries.push(json::decode_value(lua, &Json::Object(fields))?)?;
    }
    let problems: Vec<String> = log.problems.iter().map(ToString::to_string).collect();
    let read = lua.create_table()?;
    read.set("entries", entries)?;
    read.set("problems", to_lua(lua, &problems)?)?;
    Ok(read)
}

#[cfg(test)]
mod tests {
    use crate::host::{Host, Settings, Workspace};

    #[test]
    fn a_record_survives_the_round_trip_and_a_bad_line_is_a_problem() {
        let dir = tempfile::tempdir().unwrap();
        let host = Host::new(Workspace::discover(dir.path(), dir.path()), Settings::default()).unwrap();
        let path = dir.path().join("x.jsonl");
        std::fs::write(&path, "torn").unwrap();
        let script = dir.path().join("s.lua");
        std::fs::write(
            &script,
            r#"
            local path = ...
            popcorn.ledger.append(path, { v = 4, op = "a", ts = "t", verdict = "keep", results = { { n = 1.5 } } })
            local log = popcorn.ledger.read(path)
            assert(#log.entries == 1 and #log.problems == 1, #log.entries)
            local record = log.entries[1]
            assert(record.results[1].n == 1.5 and record.line == 2 and record.tag == nil)
            assert(log.problems[1]:find("line 1"), log.problems[1])
            "#,
        )
        .unwrap();
        host.run_file(&script, &path).unwrap();
    }
}
