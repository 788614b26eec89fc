//! Loading an op by name.

use mlua::Lua;

use super::{OpFunctions, OpSpec};
use crate::host::suggest::nearest_few;
use crate::host::{Host, HostError};

/// An op, ready to be sampled and evaluated. Its functions live in the VM that loaded it.
#[derive(Debug)]
pub struct Op {
    pub spec: OpSpec,
    /// `ops/<name>.lua`, for messages and for [`Host::closure`].
    pub file: String,
    pub(super) functions: OpFunctions,
}

impl Op {
    /// Reads `ops/<name>.lua`. An unknown name is a usage error that lists the nearest ones.
    pub fn load(host: &Host, name: &str) -> Result<Self, HostError> {
        let names = Self::names(host)?;
        if !names.iter().any(|known| known == name) {
            let near = nearest_few(name, names.iter().map(String::as_str), 3);
            let next = if near.is_empty() {
                "`popcorn op list` shows all ops".to_owned()
            } else {
                format!("did you mean {}?", near.join(", "))
            };
            return Err(HostError::usage(format!("no op '{name}'; {next}")));
        }
        let file = format!("ops/{name}.lua");
        let what = format!("loading {file}");
        let value = host.with_deadline(&what, "an op file only returns a table", || host.require(&file))?;
        let (spec, functions) = OpSpec::from_lua(name, &file, &value)?;
        Ok(Self { spec, file, functions })
    }

    /// The comment that the op's file starts with: papers, conventions. One line per line, without the dashes; empty
    /// lines part its paragraphs.
    pub fn about(&self, host: &Host) -> Result<Vec<String>, HostError> {
        let file = host.workspace().read(&self.file)?;
        let bytes = file.map(|file| file.bytes).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let comment = text.lines().map_while(|line| line.strip_prefix("--"));
        Ok(comment.map(|line| line.trim().to_owned()).collect())
    }

    /// Names of all ops, sorted.
    pub fn names(host: &Host) -> Result<Vec<String>, HostError> {
        let files = host.workspace().list("ops", ".lua")?;
        Ok(files.into_iter().filter_map(|file| file.strip_suffix(".lua").map(str::to_owned)).collect())
    }

    /// The VM of the op's functions.
    pub(super) fn lua(&self) -> Result<Lua, HostError> {
        let lua = self.functions.reference.weak_lua().try_upgrade();
        lua.ok_or_else(|| HostError::environment(format!("{}: its Lua VM is gone", self.file)))
    }

    /// An error of this op's file.
    pub(super) fn fault(&self, message: impl std::fmt::Display) -> HostError {
        HostError::script(format!("{}: {message}", self.file))
    }
}
