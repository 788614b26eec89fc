//! `popcorn.exit`: the exit codes by name. `popcorn.fail`: ends a script with a one-line cause.

use mlua::{Lua, MultiValue, Table};

use super::arguments::{exactly, string};
use crate::host::HostError;
use crate::model::Exit;

pub(super) fn install(lua: &Lua, popcorn: &Table) -> mlua::Result<()> {
    let exit = lua.create_table()?;
    for (name, code) in Exit::NAMED {
        exit.set(name, code as u8)?;
    }
    popcorn.set("exit", exit)?;
    popcorn.set(
        "fail",
        lua.create_function(|_, args: MultiValue| -> mlua::Result<()> {
            let call = "popcorn.fail";
            let [kind, message] = exactly(call, args)?;
            let message = string(call, &message)?;
            Err(match string(call, &kind)?.as_str() {
                "usage" => HostError::usage(message),
                "fault" => HostError::environment(message),
                other => HostError::script(format!("{call}: unknown kind '{other}'; known: usage, fault")),
            }
            .into())
        })?,
    )
}
