//! `popcorn.try`: an expected failure as a value.

use mlua::{Lua, MultiValue, Table, Value};

use crate::host::{Host, HostError, HostErrorKind};

pub(super) fn install(lua: &Lua, popcorn: &Table) -> mlua::Result<()> {
    popcorn.set("try", lua.create_function(try_call)?)
}

/// `popcorn.try(f, …)` → what `f` returns, or `nil, { kind, message, detail }` if it raises. The message is one line.
/// Unlike `pcall`, it tells a usage error from a fault of a script or of the environment.
fn try_call(lua: &Lua, mut args: MultiValue) -> mlua::Result<MultiValue> {
    let Some(Value::Function(function)) = args.pop_front() else {
        return Err(HostError::script("popcorn.try: expected a function").into());
    };
    match function.call::<MultiValue>(args) {
        Ok(values) => Ok(values),
        Err(error) => {
            Host::of(lua)?.check_deadline()?;
            let error = HostError::from(error);
            let table = lua.create_table()?;
            let kind = match error.kind {
                HostErrorKind::Usage => "usage",
                HostErrorKind::Script => "script",
                HostErrorKind::Environment => "environment",
            };
            table.set("kind", kind)?;
            table.set("message", error.message)?;
            table.set("detail", error.detail)?;
            Ok(MultiValue::from_iter([Value::Nil, Value::Table(table)]))
        }
    }
}
