//! `popcorn.script`: other Lua files. `popcorn.did_you_mean`: suggestions for a misspelt name.

use std::collections::BTreeMap;
use std::path::Path;

use mlua::{Lua, MultiValue, Table};
use sha2::{Digest, Sha256};

use super::arguments::{exactly, string};
use crate::host::{Host, HostError, did_you_mean, from_lua};

pub(super) fn install(lua: &Lua, popcorn: &Table) -> mlua::Result<()> {
    let module = lua.create_table()?;
    module.set(
        "load",
        lua.create_function(|lua, args: MultiValue| {
            let call = "popcorn.script.load";
            let [path] = exactly(call, args)?;
            let path = string(call, &path)?;
            if !Path::new(&path).is_file() {
                return Err(HostError::usage(format!("no file '{path}'")).into());
            }
            Ok(Host::of(lua)?.run_file(Path::new(&path), &())?)
        })?,
    )?;
    module.set(
        "list",
        lua.create_function(|lua, args: MultiValue| {
            let call = "popcorn.script.list";
            let [folder] = exactly(call, args)?;
            let files = Host::of(lua)?.workspace().list(&string(call, &folder)?, ".lua")?;
            let names = files.iter().map(|file| file.trim_end_matches(".lua").to_owned());
            Ok(names.collect::<Vec<_>>())
        })?,
    )?;
    module.set(
        "create",
        lua.create_function(|lua, args: MultiValue| {
            let call = "popcorn.script.create";
            let [name, text] = exactly(call, args)?;
            let path = Host::of(lua)?.workspace().create(&string(call, &name)?, &string(call, &text)?)?;
            Ok(path.display().to_string())
        })?,
    )?;
    module.set(
        "hash",
        lua.create_function(|lua, args: MultiValue| {
            let call = "popcorn.script.hash";
            let [names] = exactly(call, args)?;
            Ok(hash(&Host::of(lua)?, &from_lua::<Vec<String>>(&names, call)?))
        })?,
    )?;
    popcorn.set("script", module)?;
    popcorn.set(
        "did_you_mean",
        lua.create_function(|_, args: MultiValue| {
            let call = "popcorn.did_you_mean";
            let [name, known] = exactly(call, args)?;
            let known: Vec<String> = from_lua(&known, call)?;
            Ok(did_you_mean(&string(call, &name)?, known.iter().map(String::as_str)))
        })?,
    )
}

/// First 12 hex digits of the sha256 over these files and all that they have required so far, by name and content.
fn hash(host: &Host, names: &[String]) -> String {
    let files: BTreeMap<String, String> =
        names.iter().flat_map(|name| host.closure(name)).map(|file| (file.name, file.hash)).collect();
    let listing: String = files.iter().map(|(name, hash)| format!("{hash} {name}\n")).collect();
    Sha256::digest(listing).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}
