//! `popcorn.device`: what the cases run on.

use mlua::{Lua, MultiValue, Table};
use serde::Serialize;

use super::arguments::{exactly, string};
use crate::device;
use crate::host::{HostError, cache_root, to_lua};

pub(super) fn install(lua: &Lua, popcorn: &Table) -> mlua::Result<()> {
    let module = lua.create_table()?;
    module.set(
        "open",
        lua.create_function(|lua, args: MultiValue| {
            let call = "popcorn.device.open";
            let [name] = exactly(call, args)?;
            Ok(to_lua(lua, &describe(&string(call, &name)?)?)?)
        })?,
    )?;
    popcorn.set("device", module)
}

/// A device as scripts and records see it.
#[derive(Serialize)]
struct Description {
    /// `cpu` or `cuda:N`: the word that settings use.
    id: String,
    /// `cpu` or `cuda`: the word that limits use.
    kind: String,
    /// Model name: what a record calls the device.
    name: String,
    memory_bytes: u64,
    processors: u32,
    env: Environment,
}

/// What may change a time without a change of the candidate.
#[derive(Serialize)]
struct Environment {
    popcorn: &'static str,
    os: String,
    compiler: String,
    processors: u32,
}

fn describe(name: &str) -> Result<Description, HostError> {
    let id = device::resolve(name).map_err(HostError::usage)?;
    let info = device::describe(&id, &cache_root()?).map_err(HostError::environment)?;
    let uname = rustix::system::uname();
    let os = format!("{} {}", uname.sysname().to_string_lossy(), uname.release().to_string_lossy());
    let env =
        Environment { popcorn: env!("CARGO_PKG_VERSION"), os, compiler: info.compiler, processors: info.processors };
    Ok(Description {
        id,
        kind: info.kind,
        name: info.name,
        memory_bytes: info.memory_bytes,
        processors: info.processors,
        env,
    })
}
