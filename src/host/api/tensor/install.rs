//! Puts the `tensor` module into a VM, and runs ops for it.

use mlua::{Lua, MultiValue, Table, Value};

use super::args::{Args, nearest};
use super::op::{Op, all_ops, function_names};
use crate::truth::{self, Error};

/// Bytes of new tensors after which Lua's garbage collector runs: it does not see what a tensor holds.
const SWEEP_BYTES: u64 = 256 << 20;

/// Live tensor bytes after the last sweep, or since then if fewer.
struct Swept(u64);

/// Builds the `tensor` module and sets it as `popcorn.tensor` and as the global `tensor`.
pub fn install(lua: &Lua, popcorn: &Table) -> mlua::Result<()> {
    let module = lua.create_table()?;
    for op in all_ops() {
        module.raw_set(op.name, lua.create_function(move |lua, values: MultiValue| call_op(lua, op, values))?)?;
    }
    let meta = lua.create_table()?;
    let unknown = lua.create_function(|lua, (_, key): (Value, Value)| -> mlua::Result<Value> {
        let name = key.to_string().unwrap_or_else(|_| "?".into());
        let hint = nearest(&name, function_names().into_iter());
        let hint = hint.map_or(String::new(), |near| format!("; did you mean '{near}'?"));
        Err(raise(lua, &Error::Misuse { op: "tensor", message: format!("no function '{name}'{hint}") }))
    })?;
    meta.raw_set("__index", unknown)?;
    module.set_metatable(Some(meta))?;
    popcorn.raw_set("tensor", &module)?;
    lua.globals().raw_set("tensor", module)
}

/// Runs an op on Lua values.
pub(super) fn call_op(lua: &Lua, op: &'static Op, values: MultiValue) -> mlua::Result<MultiValue> {
    sweep_garbage(lua)?;
    let mut args = Args::new(op, values);
    let result = (op.call)(&mut args).and_then(|returned| args.finish().map(|()| returned));
    match result {
        Ok(returned) => returned.into_multi(lua),
        Err(error) => Err(raise(lua, &error)),
    }
}

/// Collects garbage if many bytes of tensors were made since the last time.
pub(super) fn sweep_garbage(lua: &Lua) -> mlua::Result<()> {
    let swept = lua.app_data_ref::<Swept>().map_or(0, |swept| swept.0);
    if truth::memory_in_use() > swept.saturating_add(SWEEP_BYTES) {
        lua.gc_collect()?;
    } else if truth::memory_in_use() >= swept {
        return Ok(());
    }
    lua.set_app_data(Swept(truth::memory_in_use()));
    Ok(())
}

/// The error for Lua, led by the script's `file:line`.
pub(super) fn raise(lua: &Lua, error: &Error) -> mlua::Error {
    let place = (1..8).find_map(|level| {
        let frame = lua.inspect_stack(level, |frame| {
            let source = frame.source();
            // mlua runs helper chunks of its own between a script and an `__index`.
            let name = source.short_src.map(|name| name.into_owned()).filter(|name| !name.starts_with("__mlua"));
            frame.current_line().zip(name)
        })?;
        frame.map(|(line, name)| format!("{name}:{line}: "))
    });
    mlua::Error::runtime(format!("{}{error}", place.unwrap_or_default()))
}
