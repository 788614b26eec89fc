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
    /// `cpu`: the word that settings and limits use.
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
    let kind = device::resolve(name).ok_or_else(|| {
        HostError::usage(format!("this popcorn has no device '{name}'; it has: {}", device::DEVICES.join(", ")))
    })?;
    let info = device::describe(kind, &cache_root()?);
    let uname = rustix::system::uname();
    let os = format!("{} {}", uname.sysname().to_string_lossy(), uname.release().to_string_lossy());
    let env =
        Environment { popcorn: env!("CARGO_PKG_VERSION"), os, compiler: info.compiler, processors: info.processors };
    Ok(Description {
        kind: kind.to_owned(),
        name: info.name,
        memory_bytes: info.memory_bytes,
        processors: info.processors,
        env,
    })
}
