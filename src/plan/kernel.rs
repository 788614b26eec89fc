//! `gpu.compile`, modules, kernels and launches. Compiling itself waits until the candidate has returned.

use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use mlua::{Lua, MetaMethod, MultiValue, UserData, UserDataMethods, Value};

use super::call::{Call, recorder};
use super::error::{describe, suggest};
use super::gpu::{Exact, Null};
use super::limits;
use super::recorder::{Given, Launch, Step};
use super::tensor::{Tensor, frozen, unknown};
use crate::model::{DType, PlanErrorKind};

/// `gpu.compile(file, { options = … })`: index into the recorder's modules.
struct Module {
    index: usize,
}

/// `mod:kernel(name, …)`.
struct Kernel {
    module: usize,
    /// CUDA name expression.
    name: Rc<str>,
}

pub(super) fn compile(lua: &Lua, values: MultiValue) -> mlua::Result<impl mlua::IntoLua + use<>> {
    let call = Call::new(lua, "gpu.compile(file, { options = {…} })", 2, values)?;
    let Value::String(file) = call.value(0) else {
        return Err(call.fail(format!("file must be a string, got {}", describe(call.value(0)))));
    };
    let file = file.to_string_lossy();
    let mut options = Vec::new();
    if let Some(table) = call.options(1, &["options"])? {
        match table.raw_get::<Value>("options")? {
            Value::Nil => {}
            Value::Table(list) => {
                for item in call.sequence(&list, "options", limits::OPTIONS)? {
                    match item {
                        Value::String(text) if text.as_bytes().len() <= limits::NAME_BYTES => {
                            options.push(text.to_string_lossy());
                        }
                        other => {
                            return Err(call.fail(format!("options must be short strings, got {}", describe(&other))));
                        }
                    }
                }
            }
            other => return Err(call.fail(format!("options must be a list of strings, got {}", describe(&other)))),
        }
    }
    let folder = recorder(lua, |recorder| recorder.folder.clone())?;
    let source = inside(&folder, &file).map_err(|message| call.fail_as(PlanErrorKind::Compile, message))?;
    let index = recorder(lua, |recorder| {
        let entry = recorder.modules.entry((source, options));
        let index = entry.index();
        entry.or_default();
        index
    })?;
    if index >= limits::MODULES {
        return Err(call.fail(format!("more than {} files and sets of options", limits::MODULES)));
    }
    Ok(Module { index })
}

/// The real path of `file` if it is a file inside `folder`.
fn inside(folder: &Path, file: &str) -> Result<PathBuf, String> {
    let relative = Path::new(file);
    if !relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) || file.is_empty() {
        return Err(format!("'{file}' must be a path inside the candidate's folder, without '..'"));
    }
    let path = folder.join(relative);
    let real = path.canonicalize().map_err(|error| format!("'{file}' cannot be read beside the candidate: {error}"))?;
    if !real.starts_with(folder) {
        return Err(format!("'{file}' leads out of the candidate's folder (to {})", real.display()));
    }
    if !real.is_file() {
        return Err(format!("'{file}' is not a file"));
    }
    Ok(real)
}

impl UserData for Module {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |lua, _, key: Value| match &key {
            Value::String(name) if name == "kernel" => lua.create_function(kernel),
            _ => Err(unknown(lua, "a module", &key, ["kernel"])),
        });
        methods.add_meta_method(MetaMethod::NewIndex, |lua, _, (key, _): (Value, Value)| -> mlua::Result<()> {
            Err(frozen(lua, "a module", &key))
        });
    }
}

/// `mod:kernel(name, targs…)`: dtype names, integers and booleans become template arguments.
fn kernel(lua: &Lua, values: MultiValue) -> mlua::Result<Kernel> {
    let call = Call::new(lua, "mod:kernel(name, …)", 32, values)?;
    let module = match call.value(0) {
        Value::UserData(data) => data.borrow::<Module>().map(|module| module.index).ok(),
        _ => None,
    };
    let module = module.ok_or_else(|| call.fail("call it with a colon, on what gpu.compile returned"))?;
    let Value::String(name) = call.value(1) else {
        return Err(call.fail(format!("name must be a string, got {}", describe(call.value(1)))));
    };
    let name = name.to_string_lossy();
    if !is_cpp_name(&name) {
        return Err(call.fail(format!(
            "'{name}' is not a kernel's name; template arguments follow as further arguments: \
             mod:kernel(\"f\", \"float32\", 4)"
        )));
    }
    let targs: Vec<String> =
        (2..call.len()).map(|index| template_argument(&call, index)).collect::<mlua::Result<_>>()?;
    let name = if targs.is_empty() { name } else { format!("{name}<{}>", targs.join(", ")) };
    if name.len() > limits::NAME_BYTES {
        return Err(call.fail(format!("the kernel's name is longer than {} characters", limits::NAME_BYTES)));
    }
    Ok(Kernel { module, name: name.into() })
}

fn template_argument(call: &Call<'_>, index: usize) -> mlua::Result<String> {
    match call.value(index) {
        Value::Integer(value) => Ok(value.to_string()),
        Value::Boolean(value) => Ok(value.to_string()),
        Value::String(text) => {
            let text = text.to_string_lossy();
            let dtype: DType = text.parse().map_err(|_| {
                let known = DType::ALL.iter().map(|dtype| dtype.name());
                call.fail(format!("template argument '{text}' is not a dtype{}", suggest(&text, known)))
            })?;
            Ok(dtype.cuda_name().to_owned())
        }
        value => Err(call.fail(format!(
            "template argument {} must be a dtype, an integer or a boolean, got {}",
            index - 1,
            describe(value)
        ))),
    }
}

/// `ident` or `ns::ident`.
fn is_cpp_name(name: &str) -> bool {
    name.split("::").all(|part| {
        part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && part.starts_with(|c: char| !c.is_ascii_digit())
    })
}

impl UserData for Kernel {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Call, launch);
        methods.add_meta_method(MetaMethod::Index, |lua, _, key: Value| -> mlua::Result<Value> {
            Err(unknown(lua, "a kernel (call it to launch it)", &key, []))
        });
        methods.add_meta_method(MetaMethod::NewIndex, |lua, _, (key, _): (Value, Value)| -> mlua::Result<()> {
            Err(frozen(lua, "a kernel", &key))
        });
        methods.add_meta_method(MetaMethod::ToString, |_, this, ()| Ok(format!("kernel {}", this.name)));
    }
}

/// `kernel{ grid = …, block = …, shared = …, arg, … }`.
fn launch(lua: &Lua, this: &Kernel, values: MultiValue) -> mlua::Result<()> {
    let call = Call::new(lua, "kernel{ grid = …, block = …, … }", 1, values)?;
    let fail = |message: String| {
        super::error::raise(PlanErrorKind::Launch, format!("{}: kernel {}: {message}", call.at, this.name))
    };
    let Value::Table(table) = call.value(0) else {
        return Err(fail(format!(
            "launch with one table: {{ grid = …, block = …, arguments… }}, got {}",
            describe(call.value(0))
        )));
    };
    let (mut grid, mut block, mut shared) = (None, None, 0);
    let mut positional: Vec<(i64, Value)> = Vec::new();
    for pair in table.pairs::<Value, Value>() {
        let (key, value) = pair?;
        match &key {
            Value::Integer(index) if positional.len() < limits::ARGUMENT_BYTES as usize => {
                positional.push((*index, value));
            }
            Value::Integer(_) => return Err(fail("too many arguments".to_owned())),
            Value::String(name) if name == "grid" => grid = Some(extent(&value, "grid", limits::GRID).map_err(fail)?),
            Value::String(name) if name == "block" => {
                block = Some(extent(&value, "block", limits::BLOCK).map_err(fail)?)
            }
            Value::String(name) if name == "shared" => shared = integer(&value, "shared").map_err(fail)?,
            Value::String(name) => {
                let name = name.to_string_lossy();
                return Err(fail(format!("unknown key '{name}'{}", suggest(&name, ["grid", "block", "shared"]))));
            }
            key => return Err(fail(format!("unknown key {}", describe(key)))),
        }
    }
    let grid = grid.ok_or_else(|| fail("grid is missing: the number of blocks".to_owned()))?;
    let block = block.ok_or_else(|| fail("block is missing: the number of threads per block".to_owned()))?;
    let threads: u64 = block.iter().map(|extent| u64::from(*extent)).product();
    if threads > limits::BLOCK_THREADS {
        return Err(fail(format!(
            "block {block:?} has {threads} threads, at most {} are possible",
            limits::BLOCK_THREADS
        )));
    }
    let most = recorder(lua, |recorder| recorder.target.shared_memory_per_block)?;
    let shared_bytes = u32::try_from(shared)
        .ok()
        .filter(|bytes| *bytes <= most)
        .ok_or_else(|| fail(format!("shared = {shared} bytes, a block has 0 .. {most}")))?;
    let args = arguments(positional, &fail)?;
    call.record(|recorder| {
        for given in &args {
            if let Given::Tensor { at, .. } = given {
                recorder.reach(at.buffer, &call.at)?;
            }
        }
        let instances = &mut recorder.modules[this.module];
        let kernel = instances.insert_full(this.name.to_string()).0;
        if kernel >= limits::INSTANCES {
            return Err(super::error::candidate(format!("{}: more than {} kernels", call.at, limits::INSTANCES)));
        }
        let at = call.at.clone();
        let launch = Launch { module: this.module, kernel, grid, block, shared_bytes, args, at };
        recorder.push(Step::Launch(launch), &call.at)
    })
}

/// A number of blocks or threads: an integer or a list of one to three, each in `1 ..= most`.
fn extent(value: &Value, name: &str, most: [u32; 3]) -> Result<[u32; 3], String> {
    let given: Vec<Value> = match value {
        Value::Table(table) => {
            table.sequence_values().collect::<mlua::Result<_>>().map_err(|error| error.to_string())?
        }
        value => vec![value.clone()],
    };
    if given.is_empty() || given.len() > 3 {
        return Err(format!("{name} must be a number or {{ x, y, z }}, got {} extents", given.len()));
    }
    let mut extents = [1; 3];
    for (axis, value) in given.iter().enumerate() {
        let letter = ["x", "y", "z"][axis];
        let value = integer(value, &format!("{name} {letter}"))?;
        if value == 0 {
            return Err(format!(
                "{name} {letter} is 0; an empty tensor needs no launch: write `if t.numel > 0 then … end`"
            ));
        }
        extents[axis] = u32::try_from(value)
            .ok()
            .filter(|value| *value <= most[axis])
            .ok_or_else(|| format!("{name} {letter} is {value}, possible is 1 .. {}", most[axis]))?;
    }
    Ok(extents)
}

fn integer(value: &Value, name: &str) -> Result<i64, String> {
    match value {
        Value::Integer(value) => Ok(*value),
        Value::Number(_) => {
            Err(format!("{name} must be an integer, got {}; divide with // or gpu.cdiv", describe(value)))
        }
        _ => Err(format!("{name} must be an integer, got {}", describe(value))),
    }
}

/// The positional items in order. Lua drops nil from a table, so a gap is the only trace of one.
fn arguments(mut positional: Vec<(i64, Value)>, fail: &impl Fn(String) -> mlua::Error) -> mlua::Result<Vec<Given>> {
    positional.sort_by_key(|(index, _)| *index);
    let mut args = Vec::with_capacity(positional.len());
    for (place, (index, value)) in positional.into_iter().enumerate() {
        let number = place + 1;
        if index != number as i64 {
            return Err(fail(format!("argument {number} is nil; pass gpu.null for a tensor that is absent")));
        }
        args.push(match &value {
            Value::Integer(value) => Given::Int(*value),
            Value::Number(value) => Given::Float(*value),
            Value::Boolean(value) => Given::Bool(*value),
            Value::UserData(data) => {
                if let Ok(tensor) = data.borrow::<Tensor>() {
                    Given::Tensor { at: tensor.place, dtype: tensor.dtype }
                } else if data.is::<Null>() {
                    Given::Null
                } else if let Ok(exact) = data.borrow::<Exact>() {
                    Given::Exact(exact.0)
                } else {
                    return Err(fail(format!("argument {number} is {}", describe(&value))));
                }
            }
            other => {
                return Err(fail(format!(
                    "argument {number} must be a tensor, gpu.null, a number or a boolean, got {}",
                    describe(other)
                )));
            }
        });
    }
    Ok(args)
}
