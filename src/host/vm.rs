//! The trusted VM that runs `scripts/` and `ops/`.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use mlua::{Function, Lua, LuaOptions, StdLib, Table, Value};
use serde::Serialize;

use super::api::INSTALLERS;
use super::deadline::Deadline;
use super::error::PRELUDE;
use super::loader::{FileRead, Loader};
use super::suggest::did_you_mean;
use super::{HostError, Workspace, to_lua};

/// Limits of a VM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Bytes that Lua values may take; tensors are not counted.
    pub memory_bytes: usize,
    /// How long one call of an op's reference may run.
    pub reference_limit: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { memory_bytes: 2 << 30, reference_limit: Duration::from_secs(60) }
    }
}

/// A trusted VM with the `popcorn` and `tensor` APIs. Cheap to clone: clones are the same VM.
#[derive(Clone)]
pub struct Host {
    lua: Lua,
    shared: Rc<Shared>,
}

/// What Lua code calling into Rust needs of its host. It lives inside the VM, so it must not own the VM.
struct Shared {
    loader: Loader,
    deadline: Deadline,
    settings: Settings,
}

/// Name in the registry of the prelude's function that makes a table strict.
const STRICT: &str = "popcorn strict";

impl Host {
    /// A VM over `workspace`; its `popcorn` and `tensor` globals are made by [`INSTALLERS`].
    pub fn new(workspace: Workspace, settings: Settings) -> Result<Self, HostError> {
        let lua = Lua::new_with(StdLib::ALL_SAFE, LuaOptions::default())?;
        lua.set_memory_limit(settings.memory_bytes)?;
        let deadline = Deadline::default();
        deadline.install(&lua)?;
        let loader = Loader::new(&lua, workspace)?;
        let host = Self { lua: lua.clone(), shared: Rc::new(Shared { loader, deadline, settings }) };
        lua.set_app_data(host.shared.clone());

        let popcorn = lua.create_table()?;
        for install in INSTALLERS {
            install(&lua, &popcorn)?;
        }
        let (sealed, strict, seal_globals) = host.run_prelude()?;
        lua.set_named_registry_value(STRICT, strict)?;
        for pair in popcorn.pairs::<String, Value>().collect::<mlua::Result<Vec<_>>>()? {
            if let (name, Value::Table(module)) = pair {
                popcorn.set(name.as_str(), sealed.call::<Value>((format!("popcorn.{name}"), module))?)?;
            }
        }
        let globals = lua.globals();
        globals.set("popcorn", sealed.call::<Value>(("popcorn", popcorn))?)?;
        seal_globals.call::<()>(())?;
        Ok(host)
    }

    /// The host that runs the Lua code which called into Rust.
    pub fn of(lua: &Lua) -> Result<Self, HostError> {
        lua.app_data_ref::<Rc<Shared>>()
            .map(|shared| Self { lua: lua.clone(), shared: shared.clone() })
            .ok_or_else(|| HostError::environment("this Lua VM is not popcorn's trusted VM"))
    }

    pub fn lua(&self) -> &Lua {
        &self.lua
    }

    pub fn workspace(&self) -> &Workspace {
        self.shared.loader.workspace()
    }

    /// Every Lua file read so far.
    pub fn files(&self) -> Vec<FileRead> {
        self.shared.loader.files()
    }

    /// A Lua file and all it has required so far: what a contract hash covers.
    pub fn closure(&self, name: &str) -> Vec<FileRead> {
        self.shared.loader.closure(name)
    }

    /// The value of a workspace file such as `ops/rms_norm.lua`, run at most once per VM.
    pub fn require(&self, name: &str) -> Result<Value, HostError> {
        self.shared.loader.run_once(&self.lua, name)
    }

    /// Runs a workspace script such as `scripts/op/check.lua` with `args` as its only argument (`local args = ...`).
    pub fn run_script(&self, name: &str, args: &impl Serialize) -> Result<Value, HostError> {
        let script = self.shared.loader.load(&self.lua, name)?;
        Ok(script.call(to_lua(&self.lua, args)?)?)
    }

    /// Runs any Lua file on disk with `args` as its only argument.
    pub fn run_file(&self, path: &Path, args: &impl Serialize) -> Result<Value, HostError> {
        let script = self.shared.loader.load_path(&self.lua, path)?;
        Ok(script.call(to_lua(&self.lua, args)?)?)
    }

    /// Runs `body`, in which Lua code may take as long as [`Settings::reference_limit`]; `what` and `next_step` go into
    /// the message of an overrun.
    pub fn with_deadline<T>(&self, what: &str, next_step: &str, body: impl FnOnce() -> T) -> T {
        self.shared.deadline.run(self.shared.settings.reference_limit, what, next_step, body)
    }

    /// Fails if a budget has run out: for code that catches errors of Lua.
    pub(super) fn check_deadline(&self) -> Result<(), HostError> {
        self.shared.deadline.overrun().map_or(Ok(()), |late| Err(HostError::script(late)))
    }

    /// `fields` itself, in which reading an unknown name now raises, with the nearest known one.
    pub(super) fn strict(&self, name: &str, fields: Table) -> mlua::Result<Table> {
        self.lua.named_registry_value::<Function>(STRICT)?.call((name, fields))
    }

    fn run_prelude(&self) -> Result<(Function, Function, Function), HostError> {
        let lua = &self.lua;
        let suggest = lua.create_function(|_, (key, fields): (Value, Table)| {
            let names: Vec<String> = fields
                .pairs::<Value, Value>()
                .filter_map(|pair| pair.ok()?.0.as_string().map(|name| name.to_string_lossy()))
                .collect();
            let near =
                key.as_string().map(|key| did_you_mean(&key.to_string_lossy(), names.iter().map(String::as_str)));
            Ok(near.unwrap_or_default())
        })?;
        let deadline = self.shared.deadline.clone();
        let overrun = lua.create_function(move |_, ()| Ok(deadline.overrun()))?;
        let raise =
            lua.create_function(|_, message: String| -> mlua::Result<()> { Err(HostError::script(message).into()) })?;
        let require = self.shared.loader.require_function(lua)?;
        let prelude = lua.load(include_str!("prelude.lua")).set_name(format!("@{PRELUDE}"));
        Ok(prelude.call((require, suggest, overrun, raise))?)
    }
}

/// What a script returned, as a process exit code: nothing, true or a table is 0, false is 1, a number itself.
pub fn exit_code(value: &Value) -> Result<u8, HostError> {
    match value {
        Value::Nil | Value::Boolean(true) | Value::Table(_) => Ok(0),
        Value::Boolean(false) => Ok(1),
        Value::Integer(code) => {
            u8::try_from(*code).map_err(|_| HostError::script(format!("exit code {code} is not in 0..255")))
        }
        other => Err(HostError::script(format!("a script returns an exit code, got {}", other.type_name()))),
    }
}

#[cfg(test)]
mod tests;
