//! Calls the candidate and checks what it returns against the op's signature.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use indexmap::IndexMap;
use mlua::chunk::ChunkMode;
use mlua::{Function, Lua, MultiValue, Table, Value};

use super::call::recorder;
use super::error::{candidate, describe, from_lua, suggest};
use super::limits;
use super::recorder::{Phase, Recorder};
use super::tensor::Tensor;
use crate::model::{Argument, Buffer, BufferRef, PlanError, PlanErrorKind, Role, Scalar, Signature, TensorMeta};

/// Runs the candidate's forward and, where gradients are asked for, its backward. The recorder then holds the plan.
pub(super) fn run(lua: &Lua, path: &Path, signature: &Signature) -> Result<(), PlanError> {
    let file = recorder(lua, |recorder| recorder.file.clone()).map_err(|error| from_lua(&error, ""))?;
    let result = Candidate { lua, signature, file: &file }.run(path);
    // A limit that was passed counts, whatever the candidate made of the error.
    let fatal = recorder(lua, |recorder| recorder.fatal.take()).unwrap_or_default();
    fatal.map_or(result, Err)
}

struct Candidate<'a> {
    lua: &'a Lua,
    signature: &'a Signature,
    file: &'a str,
}

impl Candidate<'_> {
    fn run(&self, path: &Path) -> Result<(), PlanError> {
        let op = &self.signature.op;
        let exports = self.load(path)?;
        let forward = self.callable(&exports, op)?;
        let backward_name = format!("{op}_backward");
        let backward = match self.signature.grads.is_empty() {
            true => None,
            false => Some(self.callable(&exports, &backward_name)?),
        };
        let args = self.arguments()?;
        self.record(|recorder| recorder.phase = Phase::Forward)?;
        let returned: MultiValue = forward.call(args).map_err(|error| from_lua(&error, self.file))?;
        let saved = self.outputs(returned.into_vec())?;
        let Some(backward) = backward else { return Ok(()) };
        let mut args = MultiValue::from_iter(self.begin_backward(&saved)?);
        args.push_front(Value::Table(saved));
        let returned: MultiValue = backward.call(args).map_err(|error| from_lua(&error, self.file))?;
        self.gradients(&backward_name, returned.into_vec())
    }

    fn load(&self, path: &Path) -> Result<Table, PlanError> {
        let unreadable = |error: std::io::Error| candidate(format!("{}: cannot be read: {error}", self.file));
        let size = fs::metadata(path).map_err(unreadable)?.len();
        if size > limits::SOURCE_BYTES {
            return Err(candidate(format!(
                "{}: is {size} bytes, at most {} are read",
                self.file,
                limits::SOURCE_BYTES
            )));
        }
        let source = fs::read(path).map_err(unreadable)?;
        let chunk = self.lua.load(source).set_name(format!("@{}", self.file)).set_mode(ChunkMode::Text);
        match chunk.eval::<Value>().map_err(|error| from_lua(&error, self.file))? {
            Value::Table(table) => Ok(table),
            value => Err(candidate(format!(
                "{}: must return a table with the function '{}', returned {}",
                self.file,
                self.signature.op,
                describe(&value)
            ))),
        }
    }

    fn callable(&self, exports: &Table, name: &str) -> Result<Function, PlanError> {
        match exports.raw_get::<Value>(name).map_err(|error| from_lua(&error, self.file))? {
            Value::Function(function) => Ok(function),
            Value::Nil => {
                let names: Vec<String> = exports
                    .pairs::<Value, Value>()
                    .flatten()
                    .filter_map(|(key, _)| Some(key.as_string()?.to_string_lossy()))
                    .collect();
                let why = if name.ends_with("_backward") && name != self.signature.op {
                    format!(" (gradients of {} are asked for)", self.signature.grads.join(", "))
                } else {
                    String::new()
                };
                Err(candidate(format!(
                    "{}: exports no function '{name}'{why}{}",
                    self.file,
                    suggest(name, names.iter().map(String::as_str))
                )))
            }
            value => Err(candidate(format!("{}: '{name}' must be a function, is {}", self.file, describe(&value)))),
        }
    }

    /// The forward's arguments in signature order; tensors become input buffers.
    fn arguments(&self) -> Result<MultiValue, PlanError> {
        let mut values = MultiValue::new();
        for argument in &self.signature.args {
            values.push_back(match argument {
                Argument::Absent { .. } => Value::Nil,
                Argument::Scalar { value, .. } => self.scalar(value)?,
                Argument::Tensor(meta) => self.given(meta, &meta.name, Role::Input { param: meta.name.clone() })?,
            });
        }
        Ok(values)
    }

    fn scalar(&self, value: &Scalar) -> Result<Value, PlanError> {
        Ok(match value {
            Scalar::None => Value::Nil,
            Scalar::Bool(value) => Value::Boolean(*value),
            Scalar::Int(value) => Value::Integer(*value),
            Scalar::Float(value) => Value::Number(*value),
            Scalar::Str(text) => {
                Value::String(self.lua.create_string(text).map_err(|error| from_lua(&error, self.file))?)
            }
            Scalar::Ints(values) => {
                let list = self.lua.create_sequence_from(values.iter().copied());
                Value::Table(list.map_err(|error| from_lua(&error, self.file))?)
            }
        })
    }

    /// A tensor that exists before the pass.
    fn given(&self, meta: &TensorMeta, name: &str, role: Role) -> Result<Value, PlanError> {
        let shape = meta.shape.clone();
        let buffer = Buffer { name: name.to_owned(), role, dtype: meta.dtype, shape: shape.clone() };
        let buffer = self.record(|recorder| recorder.add(buffer, Phase::Load))?;
        let place = BufferRef { buffer, byte_offset: 0 };
        let tensor = Tensor { name: name.into(), place, dtype: meta.dtype, shape };
        self.lua.create_userdata(tensor).map(Value::UserData).map_err(|error| from_lua(&error, self.file))
    }

    /// Checks forward's results, gives the outputs their role, and returns a copy of what is saved.
    fn outputs(&self, mut returned: Vec<Value>) -> Result<Table, PlanError> {
        let op = &self.signature.op;
        let expected = self.signature.outputs.len();
        while returned.len() > expected && returned.last().is_some_and(Value::is_nil) {
            returned.pop();
        }
        let saved = match returned.len().checked_sub(expected) {
            Some(0) => Value::Nil,
            Some(1) => returned.remove(expected),
            _ => {
                return Err(candidate(format!(
                    "{}: {op} returned {} values, expected {expected} output{} and then one table of what backward needs",
                    self.file,
                    returned.len(),
                    if expected == 1 { "" } else { "s" }
                )));
            }
        };
        let mut seen = HashSet::new();
        for (index, (value, meta)) in returned.iter().zip(&self.signature.outputs).enumerate() {
            let what = format!("{op}: output {} '{}'", index + 1, meta.name);
            let buffer = self.own(value, meta, &what, Phase::Forward, &mut seen)?;
            self.claim(buffer, &meta.name, Role::Output { index: index as u32 }, meta)?;
        }
        match saved {
            Value::Nil => self.lua.create_table().map_err(|error| from_lua(&error, self.file)),
            Value::Table(table) => self.save(&table, 0, &mut 0),
            value => Err(candidate(format!(
                "{}: {op} must return a table of what backward needs after its {expected} outputs, returned {}",
                self.file,
                describe(&value)
            ))),
        }
    }

    /// A returned tensor: of the right kind, whole, made by this pass, and returned once.
    fn own(
        &self,
        value: &Value,
        meta: &TensorMeta,
        what: &str,
        pass: Phase,
        seen: &mut HashSet<u32>,
    ) -> Result<u32, PlanError> {
        let file = self.file;
        let expected = format!("tensor {} {:?}", meta.dtype, meta.shape);
        let Some(tensor) = Tensor::from_value(value) else {
            return Err(candidate(format!("{file}: {what}: expected {expected}, got {}", describe(value))));
        };
        if tensor.dtype != meta.dtype || tensor.shape != meta.shape {
            return Err(candidate(format!("{file}: {what}: expected {expected}, got tensor {}", tensor.describe())));
        }
        let buffer = tensor.place.buffer;
        let (name, role, born, whole) = self.record(|recorder| {
            let slot = &recorder.slots[buffer as usize];
            let whole = tensor.place.byte_offset == 0 && slot.buffer.bytes() == tensor.bytes();
            (slot.buffer.name.clone(), slot.buffer.role.clone(), slot.born, whole)
        })?;
        match role {
            Role::Input { .. } | Role::Cotangent { .. } => Err(candidate(format!(
                "{file}: {what} is the input '{name}' itself; return a copy (gpu.empty_like and gpu.copy)"
            ))),
            _ if !whole => Err(candidate(format!(
                "{file}: {what} is a part of '{name}'; copy it into a tensor of its own (gpu.copy)"
            ))),
            _ if born != pass => Err(candidate(format!(
                "{file}: {what} is '{name}', which {} made; allocate it in {0}_backward",
                self.signature.op
            ))),
            _ if !seen.insert(buffer) => Err(candidate(format!(
                "{file}: {what} is '{name}', which is returned already; every result needs its own"
            ))),
            _ => Ok(buffer),
        }
    }

    fn claim(&self, buffer: u32, name: &str, role: Role, meta: &TensorMeta) -> Result<(), PlanError> {
        self.record(|recorder| {
            let buffer = &mut recorder.slots[buffer as usize].buffer;
            name.clone_into(&mut buffer.name);
            buffer.role = role;
            buffer.shape.clone_from(&meta.shape);
        })
    }

    /// A copy of a table of tensors, scalars and such tables: nothing that computes crosses to backward.
    fn save(&self, table: &Table, depth: usize, count: &mut usize) -> Result<Table, PlanError> {
        let fail = |message: String| candidate(format!("{}: {} saves {message}", self.file, self.signature.op));
        let lua_error = |error| from_lua(&error, self.file);
        if depth > limits::SAVED_DEPTH {
            return Err(fail("tables nested too deeply (or in a circle)".to_owned()));
        }
        let copy = self.lua.create_table().map_err(lua_error)?;
        for pair in table.pairs::<Value, Value>() {
            let (key, value) = pair.map_err(lua_error)?;
            *count += 1;
            if *count > limits::SAVED_VALUES {
                return Err(fail(format!("more than {} values", limits::SAVED_VALUES)));
            }
            let value = match value {
                Value::Table(inner) => Value::Table(self.save(&inner, depth + 1, count)?),
                Value::Boolean(_) | Value::Integer(_) | Value::Number(_) | Value::String(_) => value,
                value if Tensor::from_value(&value).is_some() => value,
                other => {
                    return Err(fail(format!(
                        "{} under {}; only tensors, numbers, strings, booleans and tables of them can be saved",
                        describe(&other),
                        describe(&key)
                    )));
                }
            };
            if !matches!(key, Value::String(_) | Value::Integer(_)) {
                return Err(fail(format!("a value under the key {}; keys are names or integers", describe(&key))));
            }
            copy.raw_set(key, value).map_err(lua_error)?;
        }
        Ok(copy)
    }

    /// Turns the recorder to backward, where only what was saved can be used; returns the cotangents, nil for an output
    /// that has none.
    fn begin_backward(&self, saved: &Table) -> Result<Vec<Value>, PlanError> {
        let mut buffers = HashSet::new();
        collect(saved, &mut buffers).map_err(|error| from_lua(&error, self.file))?;
        self.record(|recorder| {
            recorder.phase = Phase::Backward;
            for (index, slot) in recorder.slots.iter_mut().enumerate() {
                slot.visible = buffers.contains(&(index as u32));
            }
        })?;
        let outputs = self.signature.outputs.iter().enumerate();
        outputs
            .map(|(index, meta)| match meta.dtype.is_float() {
                true => self.given(meta, &format!("d{}", meta.name), Role::Cotangent { index: index as u32 }),
                false => Ok(Value::Nil),
            })
            .collect()
    }

    fn gradients(&self, name: &str, returned: Vec<Value>) -> Result<(), PlanError> {
        let wanted = &self.signature.grads;
        let [Value::Table(table)] = returned.as_slice() else {
            let got = returned.iter().map(describe).collect::<Vec<_>>().join(", ");
            return Err(candidate(format!(
                "{}: {name} must return one table of gradients, {{ {} }}, returned {}",
                self.file,
                wanted.iter().map(|name| format!("{name} = …")).collect::<Vec<_>>().join(", "),
                if got.is_empty() { "nothing" } else { &got }
            )));
        };
        let mut given = IndexMap::new();
        for pair in table.pairs::<Value, Value>() {
            let (key, value) = pair.map_err(|error| from_lua(&error, self.file))?;
            let param = match &key {
                Value::String(text) => text.to_string_lossy(),
                key => describe(key),
            };
            if !wanted.contains(&param) {
                return Err(candidate(format!(
                    "{}: {name} returned a gradient for '{param}', which has none{}",
                    self.file,
                    suggest(&param, wanted.iter().map(String::as_str))
                )));
            }
            given.insert(param, value);
        }
        let mut seen = HashSet::new();
        for param in wanted {
            let Some(meta) = self.tensor_argument(param) else {
                return Err(PlanError {
                    kind: PlanErrorKind::Environment,
                    message: format!(
                        "op {}: asks for the gradient of '{param}', which is no tensor argument",
                        self.signature.op
                    ),
                    detail: String::new(),
                });
            };
            let what = format!("{name}: gradient of '{param}'");
            let buffer = self.own(given.get(param).unwrap_or(&Value::Nil), meta, &what, Phase::Backward, &mut seen)?;
            self.claim(buffer, &format!("grad {param}"), Role::Grad { param: param.clone() }, meta)?;
        }
        Ok(())
    }

    fn tensor_argument(&self, name: &str) -> Option<&TensorMeta> {
        self.signature.args.iter().find_map(|argument| match argument {
            Argument::Tensor(meta) if meta.name == name => Some(meta),
            _ => None,
        })
    }

    fn record<T>(&self, f: impl FnOnce(&mut Recorder) -> T) -> Result<T, PlanError> {
        recorder(self.lua, f).map_err(|error| from_lua(&error, self.file))
    }
}

/// The buffers of every tensor in a table. Depth was limited when the table was copied.
fn collect(table: &Table, buffers: &mut HashSet<u32>) -> mlua::Result<()> {
    for pair in table.pairs::<Value, Value>() {
        let (_, value) = pair?;
        match &value {
            Value::Table(inner) => collect(inner, buffers)?,
            value => buffers.extend(Tensor::from_value(value).map(|tensor| tensor.place.buffer)),
        }
    }
    Ok(())
}
