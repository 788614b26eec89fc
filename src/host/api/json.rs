//! `popcorn.json`: text of Lua values with sorted keys, and back.

use mlua::{Lua, LuaSerdeExt, MultiValue, Table, Value};

use super::arguments::{exactly, string};
use crate::host::{HostError, json};

pub(super) fn install(lua: &Lua, popcorn: &Table) -> mlua::Result<()> {
    let module = lua.create_table()?;
    module.set(
        "encode",
        lua.create_function(|lua, args: MultiValue| {
            let [value] = exactly("popcorn.json.encode", args)?;
            Ok(json::encode(lua, &value)?)
        })?,
    )?;
    module.set(
        "decode",
        lua.create_function(|lua, args: MultiValue| {
            let [text] = exactly("popcorn.json.decode", args)?;
            Ok(json::decode(lua, &string("popcorn.json.decode", &text)?)?)
        })?,
    )?;
    module.set(
        "list",
        lua.create_function(|lua, args: MultiValue| {
            let [Value::Table(table)] = exactly("popcorn.json.list", args)? else {
                return Err(HostError::script("popcorn.json.list: expected a table").into());
            };
            table.set_metatable(Some(lua.array_metatable()))?;
            Ok(table)
        })?,
    )?;
    popcorn.set("json", module)
}
