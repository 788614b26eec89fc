//! Arguments of one call from Lua, converted strictly: nothing is coerced, nothing extra is dropped.

use mlua::{Lua, MultiValue, Table, Value};

use super::error::{describe, location, raise, suggest};
use super::limits;
use super::recorder::Recorder;
use super::tensor::Tensor;
use crate::model::{DType, PlanError, PlanErrorKind};

/// One call of a `gpu` function. `usage` is its signature as the stub documents it; messages quote it.
pub(super) struct Call<'l> {
    pub(super) lua: &'l Lua,
    pub(super) at: String,
    usage: &'static str,
    values: Vec<Value>,
}

impl<'l> Call<'l> {
    /// Refuses more than `most` arguments.
    pub(super) fn new(lua: &'l Lua, usage: &'static str, most: usize, values: MultiValue) -> mlua::Result<Self> {
        let file = recorder(lua, |recorder| recorder.file.clone())?;
        let call = Self { lua, at: location(lua, &file), usage, values: values.into_vec() };
        if call.values.len() > most {
            return Err(call.fail(format!("takes at most {most} arguments, got {}", call.values.len())));
        }
        Ok(call)
    }

    pub(super) fn fail(&self, message: impl std::fmt::Display) -> mlua::Error {
        self.fail_as(PlanErrorKind::Candidate, message)
    }

    pub(super) fn fail_as(&self, kind: PlanErrorKind, message: impl std::fmt::Display) -> mlua::Error {
        raise(kind, format!("{}: {}: {message}", self.at, self.usage))
    }

    /// The argument at `index` (0-based), nil where it is missing.
    pub(super) fn value(&self, index: usize) -> &Value {
        self.values.get(index).unwrap_or(&Value::Nil)
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    pub(super) fn tensor(&self, index: usize, name: &str) -> mlua::Result<Tensor> {
        self.as_tensor(self.value(index), name)
    }

    pub(super) fn as_tensor(&self, value: &Value, name: &str) -> mlua::Result<Tensor> {
        Tensor::from_value(value).ok_or_else(|| self.fail(format!("{name} must be a tensor, got {}", describe(value))))
    }

    pub(super) fn dtype(&self, index: usize) -> mlua::Result<DType> {
        let value = self.value(index);
        let Value::String(text) = value else {
            return Err(self.fail(format!("dtype must be a string such as \"float32\", got {}", describe(value))));
        };
        let text = text.to_string_lossy();
        text.parse().map_err(|_| {
            self.fail(format!("unknown dtype '{text}'{}", suggest(&text, DType::ALL.iter().map(|dtype| dtype.name()))))
        })
    }

    pub(super) fn integer(&self, index: usize, name: &str) -> mlua::Result<i64> {
        self.as_integer(self.value(index), name)
    }

    pub(super) fn as_integer(&self, value: &Value, name: &str) -> mlua::Result<i64> {
        match value {
            Value::Integer(value) => Ok(*value),
            Value::Number(_) => {
                Err(self
                    .fail(format!("{name} must be an integer, got {}; divide with // or gpu.cdiv", describe(value))))
            }
            _ => Err(self.fail(format!("{name} must be an integer, got {}", describe(value)))),
        }
    }

    /// A shape: one integer or a list of extents. Extents are at least 0.
    pub(super) fn shape(&self, index: usize) -> mlua::Result<Vec<u64>> {
        let extents = match self.value(index) {
            value @ Value::Integer(_) => vec![self.as_integer(value, "shape")?],
            Value::Table(table) => self.integers(table, "shape")?,
            value => return Err(self.fail(format!("shape must be a list of integers, got {}", describe(value)))),
        };
        if extents.len() > limits::NDIM {
            return Err(self.fail(format!(
                "shape has {} dimensions, at most {} are possible",
                extents.len(),
                limits::NDIM
            )));
        }
        extents
            .iter()
            .map(|extent| {
                u64::try_from(*extent).map_err(|_| self.fail(format!("shape {extents:?} has a negative extent")))
            })
            .collect()
    }

    /// A table that is a sequence of integers and nothing else.
    pub(super) fn integers(&self, table: &Table, name: &str) -> mlua::Result<Vec<i64>> {
        self.sequence(table, name, limits::NDIM)?.iter().map(|value| self.as_integer(value, name)).collect()
    }

    /// The items of a table that is a sequence and nothing else.
    pub(super) fn sequence(&self, table: &Table, name: &str, most: usize) -> mlua::Result<Vec<Value>> {
        let mut items = Vec::new();
        for pair in table.pairs::<Value, Value>() {
            let (key, value) = pair?;
            match key {
                Value::Integer(key) if key == items.len() as i64 + 1 && items.len() < most => items.push(value),
                Value::Integer(key) if key == items.len() as i64 + 1 => {
                    return Err(self.fail(format!("{name} has more than {most} items")));
                }
                key => {
                    return Err(self.fail(format!("{name} must be a plain list, but has the key {}", describe(&key))));
                }
            }
        }
        Ok(items)
    }

    /// The options table at `index`: only the named keys, nil for none.
    pub(super) fn options(&self, index: usize, known: &[&str]) -> mlua::Result<Option<Table>> {
        let table = match self.value(index) {
            Value::Nil => return Ok(None),
            Value::Table(table) => table,
            value => return Err(self.fail(format!("options must be a table, got {}", describe(value)))),
        };
        for pair in table.pairs::<Value, Value>() {
            let (key, _) = pair?;
            match &key {
                Value::String(text) if known.contains(&text.to_string_lossy().as_str()) => {}
                Value::String(text) => {
                    let text = text.to_string_lossy();
                    return Err(self.fail(format!("unknown option '{text}'{}", suggest(&text, known.iter().copied()))));
                }
                key => return Err(self.fail(format!("options have the key {}", describe(key)))),
            }
        }
        Ok(Some(table.clone()))
    }

    /// Runs `f` on the recorder; its error crosses Lua with its kind.
    pub(super) fn record<T>(&self, f: impl FnOnce(&mut Recorder) -> Result<T, PlanError>) -> mlua::Result<T> {
        recorder(self.lua, f)?.map_err(mlua::Error::external)
    }
}

/// Runs `f` on the VM's recorder.
pub(super) fn recorder<T>(lua: &Lua, f: impl FnOnce(&mut Recorder) -> T) -> mlua::Result<T> {
    match lua.app_data_mut::<Recorder>() {
        Some(mut recorder) => Ok(f(&mut recorder)),
        None => Err(mlua::Error::runtime("no plan is being recorded")),
    }
}
