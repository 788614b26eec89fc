//! `popcorn.candidate`: what is being tried, as files.

use std::path::{Path, PathBuf};

use mlua::{FromLua, Lua, MetaMethod, MultiValue, Table, UserData, UserDataFields, UserDataMethods, Value};
use sha2::{Digest, Sha256};

use super::arguments::{exactly, string};
use super::case::unknown_field;
use super::op::LuaOp;
use crate::host::{Host, HostError, did_you_mean, from_lua, to_lua};
use crate::ledger::git_state;

pub(super) fn install(lua: &Lua, popcorn: &Table) -> mlua::Result<()> {
    let module = lua.create_table()?;
    module.set(
        "open",
        lua.create_function(|lua, args: MultiValue| {
            let call = "popcorn.candidate.open";
            let [op, implementation] = exactly(call, args)?;
            let op = LuaOp::from_lua(op, lua)?;
            Ok(open(&Host::of(lua)?, &op, &string(call, &implementation)?)?)
        })?,
    )?;
    popcorn.set("candidate", module)
}

/// A candidate's Lua file.
#[derive(Clone, Debug)]
pub(super) struct LuaCandidate {
    /// The registered name, or the path as it was given.
    pub(super) name: String,
    /// Absolute path of the Lua file.
    pub(super) path: PathBuf,
    /// Messages show paths relative to this folder.
    pub(super) root: PathBuf,
}

/// Fields and methods, for messages and the check of the stubs.
pub(super) const FIELDS: [&str; 3] = ["name", "path", "shown"];
pub(super) const METHODS: [&str; 2] = ["git", "hash"];

/// A registered name of the op, or a Lua file (anything with a slash, or that ends in `.lua`).
fn open(host: &Host, op: &LuaOp, implementation: &str) -> Result<LuaCandidate, HostError> {
    let spec = &op.0.spec;
    if implementation.contains('/') || implementation.ends_with(".lua") {
        let path = std::path::absolute(implementation).ok().filter(|path| path.is_file());
        let path = path.ok_or_else(|| HostError::usage(format!("no file '{implementation}' to try")))?;
        return Ok(LuaCandidate { name: implementation.to_owned(), root: root_of(&path), path });
    }
    let by_habit = format!("{}_cu", spec.name);
    let module = match spec.impls.get(implementation) {
        Some(module) => module.clone(),
        // An op need not register a candidate that is where everybody looks for it.
        None if implementation == "popcorn" => by_habit,
        None => {
            let known: Vec<&str> = spec.impls.keys().map(String::as_str).collect();
            let near = did_you_mean(implementation, known.iter().copied());
            let list = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(HostError::usage(format!(
                "{} has no implementation '{implementation}'{near}; registered: {list}",
                spec.name
            )));
        }
    };
    let file = format!("{module}.lua");
    match host.workspace().kernel_path(&file)? {
        Some(path) => Ok(LuaCandidate { name: implementation.to_owned(), root: root_of(&path), path }),
        None => Err(HostError::usage(format!(
            "{} has no candidate: kernels/{file} is not there; write it, or name a file with --impl",
            spec.name
        ))),
    }
}

/// The folder that holds `kernels/`, or the file's own.
fn root_of(path: &Path) -> PathBuf {
    let folder = path.parent().unwrap_or(path);
    let root = if folder.file_name().is_some_and(|name| name == "kernels") { folder.parent() } else { None };
    root.unwrap_or(folder).to_path_buf()
}

impl LuaCandidate {
    /// Path for people: relative to the root.
    fn shown(&self) -> String {
        self.path.strip_prefix(&self.root).unwrap_or(&self.path).display().to_string()
    }

    /// First 12 hex digits of the sha256 of all source files, by name and content.
    fn hash(&self, sources: &[PathBuf]) -> Result<String, HostError> {
        let mut sources = sources.to_vec();
        sources.sort();
        let mut digest = Sha256::new();
        for source in &sources {
            let bytes = std::fs::read(source)
                .map_err(|error| HostError::environment(format!("{}: cannot read: {error}", source.display())))?;
            let name = source.strip_prefix(&self.root).unwrap_or(source).to_string_lossy();
            for part in [name.as_bytes(), &bytes] {
                digest.update((part.len() as u64).to_le_bytes());
                digest.update(part);
            }
        }
        Ok(digest.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect())
    }
}

impl FromLua for LuaCandidate {
    fn from_lua(value: Value, _: &Lua) -> mlua::Result<Self> {
        match value.as_userdata().and_then(|userdata| userdata.borrow::<Self>().ok()) {
            Some(candidate) => Ok(candidate.clone()),
            None => {
                let got = value.type_name();
                Err(HostError::script(format!("expected a candidate (from popcorn.candidate.open), got {got}")).into())
            }
        }
    }
}

impl UserData for LuaCandidate {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("name", |_, candidate| Ok(candidate.name.clone()));
        fields.add_field_method_get("path", |_, candidate| Ok(candidate.path.display().to_string()));
        fields.add_field_method_get("shown", |_, candidate| Ok(candidate.shown()));
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("hash", |_, candidate, args: MultiValue| {
            let [sources] = exactly("candidate:hash", args)?;
            Ok(candidate.hash(&from_lua::<Vec<PathBuf>>(&sources, "candidate:hash")?)?)
        });
        methods.add_method("git", |lua, _, args: MultiValue| {
            let [sources] = exactly("candidate:git", args)?;
            Ok(to_lua(lua, &git_state(&from_lua::<Vec<PathBuf>>(&sources, "candidate:git")?))?)
        });
        methods.add_meta_method(MetaMethod::Index, |_, _, key: Value| {
            unknown_field("a candidate", &key, &[&FIELDS[..], &METHODS[..]].concat())
        });
    }
}
