//! The bare VM: what is on these lists, and nothing else.

use std::cell::Cell;

use mlua::{HookTriggers, Lua, LuaOptions, StdLib, Table, Value};

use super::call::recorder;
use super::error::candidate;
use super::{gpu, limits};
use crate::plan::recorder::Recorder;

/// Functions of the base library that stay. Gone are those that read files, run text or bytecode, steer the collector
/// or write to a stream; and `xpcall`, whose handler runs inside the hook that raised the error, where no further hook
/// can end it.
const BASE: &[&str] = &[
    "_G",
    "_VERSION",
    "assert",
    "error",
    "getmetatable",
    "ipairs",
    "next",
    "pairs",
    "pcall",
    "rawequal",
    "rawget",
    "rawlen",
    "rawset",
    "select",
    "setmetatable",
    "tonumber",
    "tostring",
    "type",
];
/// Libraries that stay.
const LIBRARIES: &[&str] = &["math", "string", "table", "utf8"];
/// Members of those libraries that go: bytecode, and chance (a plan is a function of shapes).
const REMOVED: &[(&str, &str)] = &[("string", "dump"), ("math", "random"), ("math", "randomseed")];

/// A VM with limits, `gpu`, and `recorder` behind it.
pub(super) fn new(recorder: Recorder) -> mlua::Result<Lua> {
    let libraries = StdLib::TABLE | StdLib::STRING | StdLib::MATH | StdLib::UTF8;
    let lua = Lua::new_with(libraries, LuaOptions::default())?;
    lua.set_memory_limit(limits::LUA_BYTES)?;
    let globals = lua.globals();
    let names: Vec<Value> =
        globals.pairs::<Value, Value>().map(|pair| pair.map(|(key, _)| key)).collect::<Result<_, _>>()?;
    for name in names {
        let kept = matches!(&name, Value::String(text)
            if BASE.iter().chain(LIBRARIES).any(|kept| text == kept));
        if !kept {
            globals.raw_set(name, Value::Nil)?;
        }
    }
    for (library, member) in REMOVED {
        globals.get::<Table>(*library)?.raw_set(*member, Value::Nil)?;
    }
    protect_strings(&lua)?;
    refuse_finalizers(&lua)?;
    lua.set_app_data(recorder);
    gpu::install(&lua)?;
    limit_instructions(&lua)?;
    Ok(lua)
}

/// `getmetatable("")` must not hand out the table behind every string method.
fn protect_strings(lua: &Lua) -> mlua::Result<()> {
    match lua.type_metatable::<mlua::LuaString>() {
        Some(metatable) => metatable.raw_set("__metatable", false),
        None => Ok(()),
    }
}

/// Finalizers run with hooks off, so a loop in one would escape the instruction budget. Lua looks for `__gc` when the
/// metatable is set, and only then.
fn refuse_finalizers(lua: &Lua) -> mlua::Result<()> {
    let original: mlua::Function = lua.globals().get("setmetatable")?;
    let guarded = lua.create_function(move |lua, values: mlua::MultiValue| {
        if let Some(Value::Table(metatable)) = values.iter().nth(1)
            && !metatable.raw_get::<Value>("__gc")?.is_nil()
        {
            let file = recorder(lua, |recorder| recorder.file.clone())?;
            let at = super::error::location(lua, &file);
            return Err(mlua::Error::external(candidate(format!("{at}: setmetatable: __gc is not available"))));
        }
        original.call::<mlua::MultiValue>(values)
    })?;
    lua.globals().set("setmetatable", guarded)
}

/// One budget for everything; a global hook also reaches coroutines, should there ever be one.
fn limit_instructions(lua: &Lua) -> mlua::Result<()> {
    let left = Cell::new(limits::LUA_INSTRUCTIONS);
    let triggers = HookTriggers::new().every_nth_instruction(limits::HOOK_INTERVAL);
    lua.set_global_hook(triggers, move |lua, _| {
        left.set(left.get().saturating_sub(u64::from(limits::HOOK_INTERVAL)));
        if left.get() > 0 {
            return Ok(mlua::VmState::Continue);
        }
        // `pcall` catches this error, and a loop of `pcall`s would catch one per interval for ever. From here on each
        // single instruction fails, the one after `pcall` too.
        lua.set_global_hook(HookTriggers::new().every_nth_instruction(1), |lua, _| Err(spent(lua)))?;
        Err(spent(lua))
    })
}

/// The error of a spent budget; kept as fatal, whatever the candidate makes of it.
fn spent(lua: &Lua) -> mlua::Error {
    // The recorder is borrowed only inside our own functions, where no hook runs.
    let error = recorder(lua, |recorder| {
        let at = super::error::location(lua, &recorder.file);
        let message =
            format!("{at}: still running after {} million Lua instructions", limits::LUA_INSTRUCTIONS / 1_000_000);
        recorder.fatal.get_or_insert_with(|| candidate(message)).clone()
    });
    error.map_or_else(|error| error, mlua::Error::external)
}
