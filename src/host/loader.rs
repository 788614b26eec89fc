//! `require`: one file of the workspace (or of the binary) per module, hashed as it is read.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use mlua::chunk::ChunkMode;
use mlua::{Function, Lua, Table, Value};
use sha2::{Digest, Sha256};

use super::suggest::did_you_mean;
use super::{HostError, Workspace};

/// A Lua file as it was when the VM read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRead {
    /// Path relative to the workspace, as messages show it: `ops/rms_norm.lua`.
    pub name: String,
    /// First 12 hex digits of the sha256 of its bytes.
    pub hash: String,
    /// Where it lies on disk; None for the copy inside the binary.
    pub path: Option<PathBuf>,
}

#[derive(Default)]
struct State {
    files: BTreeMap<String, FileRead>,
    /// Which file required which.
    requires: BTreeMap<String, BTreeSet<String>>,
    /// Modules whose chunk is running now, outermost first.
    loading: Vec<String>,
}

/// Reads, compiles and remembers Lua files. Cheap to clone: clones share their state.
#[derive(Clone)]
pub(super) struct Loader {
    workspace: Rc<Workspace>,
    state: Rc<RefCell<State>>,
    /// Module results by file name.
    loaded: Table,
}

impl Loader {
    pub(super) fn new(lua: &Lua, workspace: Workspace) -> mlua::Result<Self> {
        Ok(Self { workspace: Rc::new(workspace), state: Rc::default(), loaded: lua.create_table()? })
    }

    /// The `require` function: `require "scripts.lib.dims"` runs `scripts/lib/dims.lua` once and returns its value.
    pub(super) fn require_function(&self, lua: &Lua) -> mlua::Result<Function> {
        let loader = self.clone();
        lua.create_function(move |lua, module: Value| {
            let Value::String(module) = &module else {
                return Err(HostError::script(format!("require: expected a string, got {}", module.type_name())).into());
            };
            let name = module_file(&module.to_str()?)?;
            if let Some(caller) = lua.inspect_stack(1, |caller| chunk_name(caller.source().source.as_deref())) {
                loader.state.borrow_mut().requires.entry(caller).or_default().insert(name.clone());
            }
            Ok(loader.run_once(lua, &name)?)
        })
    }

    /// The value of the file `name`, run at most once per VM.
    pub(super) fn run_once(&self, lua: &Lua, name: &str) -> Result<Value, HostError> {
        let known: Value = self.loaded.raw_get(name)?;
        if !known.is_nil() {
            return Ok(known);
        }
        if self.state.borrow().loading.iter().any(|other| other == name) {
            let chain = self.state.borrow().loading.join(" -> ");
            return Err(HostError::script(format!("require cycle: {chain} -> {name}")));
        }
        let chunk = self.load(lua, name)?;
        self.state.borrow_mut().loading.push(name.to_owned());
        let result = chunk.call::<Value>(());
        self.state.borrow_mut().loading.pop();
        let value = match result? {
            Value::Nil => Value::Boolean(true),
            value => value,
        };
        self.loaded.raw_set(name, &value)?;
        Ok(value)
    }

    /// Compiles a workspace file into a function, without running it.
    pub(super) fn load(&self, lua: &Lua, name: &str) -> Result<Function, HostError> {
        let Some(content) = self.workspace.read(name)? else {
            let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
            let siblings = self.workspace.list(folder, ".lua").unwrap_or_default();
            let near = did_you_mean(file, siblings.iter().map(String::as_str));
            return Err(HostError::script(format!("no file '{name}' in the workspace or in popcorn itself{near}")));
        };
        self.compile(lua, name, &content.bytes, content.path)
    }

    /// Compiles any file on disk; inside the workspace it goes by its relative name.
    pub(super) fn load_path(&self, lua: &Lua, path: &Path) -> Result<Function, HostError> {
        let fail = |e: std::io::Error| HostError::usage(format!("{}: cannot read: {e}", path.display()));
        let absolute = path.canonicalize().map_err(fail)?;
        let bytes = std::fs::read(&absolute).map_err(fail)?;
        let root = self.workspace.root.as_ref().and_then(|root| root.canonicalize().ok());
        let name = root.and_then(|root| absolute.strip_prefix(root).ok().map(Path::to_path_buf));
        let name = name.unwrap_or_else(|| path.to_path_buf()).display().to_string();
        self.compile(lua, &name, &bytes, Some(absolute))
    }

    fn compile(&self, lua: &Lua, name: &str, bytes: &[u8], path: Option<PathBuf>) -> Result<Function, HostError> {
        let file = FileRead { name: name.to_owned(), hash: hex12(&Sha256::digest(bytes)), path };
        self.state.borrow_mut().files.insert(name.to_owned(), file);
        // Text mode: precompiled bytecode can crash the VM. The `@` makes messages start with `file:line:`.
        let chunk = lua.load(bytes).set_name(format!("@{name}")).set_mode(ChunkMode::Text);
        chunk.into_function().map_err(|error| {
            let mut error = HostError::from(error);
            if !error.message.starts_with(name) {
                error.message = format!("{name}: {}", error.message);
            }
            error
        })
    }

    /// Every file read so far, by name.
    pub(super) fn files(&self) -> Vec<FileRead> {
        self.state.borrow().files.values().cloned().collect()
    }

    /// A file and everything it has required so far, directly or not, by name.
    pub(super) fn closure(&self, name: &str) -> Vec<FileRead> {
        let state = self.state.borrow();
        let mut seen = BTreeSet::new();
        let mut open = vec![name];
        while let Some(name) = open.pop() {
            if seen.insert(name) {
                open.extend(state.requires.get(name).into_iter().flatten().map(String::as_str));
            }
        }
        seen.into_iter().filter_map(|name| state.files.get(name).cloned()).collect()
    }

    pub(super) fn workspace(&self) -> &Workspace {
        &self.workspace
    }
}

/// `scripts.lib.dims` → `scripts/lib/dims.lua`. Only word characters and dashes between the dots.
fn module_file(module: &str) -> Result<String, HostError> {
    let is_word =
        |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
    if !module.split('.').all(is_word) {
        return Err(HostError::script(format!(
            "require: '{module}' is not a module name; write folders with dots, as in 'scripts.lib.dims'"
        )));
    }
    Ok(module.replace('.', "/") + ".lua")
}

fn chunk_name(source: Option<&str>) -> String {
    source.unwrap_or_default().trim_start_matches('@').to_owned()
}

pub(super) fn hex12(digest: &[u8]) -> String {
    digest.iter().take(6).fold(String::with_capacity(12), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
