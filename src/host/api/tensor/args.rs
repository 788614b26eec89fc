//! Reads an op's arguments: positional first, then from a trailing table of named ones. Nothing is coerced.

use mlua::{MultiValue, Table, Value};

use super::userdata::LuaTensor;
use crate::host::api::tensor::op::Op;
use crate::model::DType;
use crate::truth::{Error, Number, Operand, Result, Tensor};

pub(super) struct Args<'a> {
    op: &'a Op,
    values: Vec<Value>,
    next: usize,
    named: Option<Table>,
    /// Names asked for so far, for suggestions.
    known: Vec<&'static str>,
}

impl<'a> Args<'a> {
    pub(super) fn new(op: &'a Op, values: MultiValue) -> Self {
        let mut values: Vec<Value> = values.into_iter().collect();
        let named = match values.last() {
            Some(Value::Table(table)) if table.raw_len() == 0 && !table.is_empty() => Some(table.clone()),
            _ => None,
        };
        if named.is_some() {
            values.pop();
        }
        Self { op, values, next: 0, named, known: Vec::new() }
    }

    /// The next positional argument, else the named one; nil if neither.
    fn take(&mut self, name: &'static str) -> Result<Value> {
        self.known.push(name);
        let named = match &self.named {
            Some(table) => table.raw_get(name).map_err(|error| self.fault(error.to_string()))?,
            None => Value::Nil,
        };
        let given_by_name = !named.is_nil();
        if self.next < self.values.len() {
            self.next += 1;
            if given_by_name {
                return Err(self.fault(format!("argument '{name}' is given twice, by position and by name")));
            }
            return Ok(std::mem::replace(&mut self.values[self.next - 1], Value::Nil));
        }
        Ok(named)
    }

    /// A named argument that has no position (keyword-only in PyTorch).
    fn take_named(&mut self, name: &'static str) -> Result<Value> {
        let rest = std::mem::replace(&mut self.next, usize::MAX);
        let value = self.take(name);
        self.next = rest;
        value
    }

    pub(super) fn fault(&self, message: String) -> Error {
        Error::Misuse { op: self.op.name, message }
    }

    fn mismatch(&self, name: &str, expected: &str, got: &Value) -> Error {
        self.fault(format!("argument '{name}' must be {expected}, got {}", describe(got)))
    }

    /// Refuses what no parameter took.
    pub(super) fn finish(&self) -> Result<()> {
        if let Some(extra) = self.values.get(self.next) {
            return Err(self.fault(format!("unexpected argument {}: {}", self.next + 1, describe(extra))));
        }
        let Some(table) = &self.named else { return Ok(()) };
        for pair in table.pairs::<Value, Value>() {
            let (key, _) = pair.map_err(|error| self.fault(error.to_string()))?;
            let key = key.to_string().unwrap_or_else(|_| "?".into());
            if !self.known.contains(&key.as_str()) {
                let hint = nearest(&key, self.known.iter().copied())
                    .map_or(String::new(), |name| format!("; did you mean '{name}'?"));
                return Err(self.fault(format!("unknown argument '{key}'{hint}")));
            }
        }
        Ok(())
    }

    /// The tensor that the op is a method of.
    pub(super) fn this(&mut self) -> Result<Tensor> {
        self.tensor("self")
    }

    pub(super) fn tensor(&mut self, name: &'static str) -> Result<Tensor> {
        let value = self.take(name)?;
        as_tensor(&value).ok_or_else(|| self.mismatch(name, "a tensor", &value))
    }

    pub(super) fn optional_tensor(&mut self, name: &'static str) -> Result<Option<Tensor>> {
        match self.take(name)? {
            Value::Nil => Ok(None),
            value => as_tensor(&value).map(Some).ok_or_else(|| self.mismatch(name, "a tensor or nil", &value)),
        }
    }

    pub(super) fn named_tensor(&mut self, name: &'static str) -> Result<Option<Tensor>> {
        match self.take_named(name)? {
            Value::Nil => Ok(None),
            value => as_tensor(&value).map(Some).ok_or_else(|| self.mismatch(name, "a tensor", &value)),
        }
    }

    pub(super) fn function(&mut self, name: &'static str) -> Result<mlua::Function> {
        let value = self.take(name)?;
        value.as_function().cloned().ok_or_else(|| self.mismatch(name, "a function", &value))
    }

    pub(super) fn tensors(&mut self, name: &'static str) -> Result<Vec<Tensor>> {
        let value = self.take(name)?;
        self.as_tensors(name, value)
    }

    /// A list of tensors; empty if it is left out.
    pub(super) fn optional_tensors(&mut self, name: &'static str) -> Result<Vec<Tensor>> {
        match self.take(name)? {
            Value::Nil => Ok(Vec::new()),
            value => self.as_tensors(name, value),
        }
    }

    fn as_tensors(&self, name: &str, value: Value) -> Result<Vec<Tensor>> {
        let expected = "a list of tensors";
        let Some(items) = as_list(&value) else { return Err(self.mismatch(name, expected, &value)) };
        let convert = |item: &Value| as_tensor(item).ok_or_else(|| self.mismatch(name, expected, item));
        items.iter().map(convert).collect()
    }

    /// A list of tensors, or all remaining positional arguments.
    pub(super) fn remaining_tensors(&mut self, name: &'static str) -> Result<Vec<Tensor>> {
        if !matches!(self.values.get(self.next), Some(Value::UserData(_))) {
            return self.tensors(name);
        }
        (self.next..self.values.len()).map(|_| self.tensor(name)).collect()
    }

    /// A tensor or a number.
    pub(super) fn operand(&mut self, name: &'static str) -> Result<Operand> {
        let value = self.take(name)?;
        let number = || as_number(&value).map(Operand::Number);
        let operand = as_tensor(&value).map(Operand::Tensor).or_else(number);
        operand.ok_or_else(|| self.mismatch(name, "a tensor or a number", &value))
    }

    pub(super) fn number(&mut self, name: &'static str) -> Result<Number> {
        let value = self.take(name)?;
        as_number(&value).ok_or_else(|| self.mismatch(name, "a number", &value))
    }

    pub(super) fn optional_number(&mut self, name: &'static str) -> Result<Option<Number>> {
        match self.take(name)? {
            Value::Nil => Ok(None),
            value => as_number(&value).map(Some).ok_or_else(|| self.mismatch(name, "a number or nil", &value)),
        }
    }

    pub(super) fn float(&mut self, name: &'static str, default: f64) -> Result<f64> {
        Ok(self.optional_float(name)?.unwrap_or(default))
    }

    pub(super) fn optional_float(&mut self, name: &'static str) -> Result<Option<f64>> {
        Ok(self.optional_number(name)?.map(Number::as_f64))
    }

    pub(super) fn named_float(&mut self, name: &'static str, default: f64) -> Result<f64> {
        match self.take_named(name)? {
            Value::Nil => Ok(default),
            value => {
                let number = as_number(&value).ok_or_else(|| self.mismatch(name, "a number", &value));
                number.map(Number::as_f64)
            }
        }
    }

    pub(super) fn int(&mut self, name: &'static str) -> Result<isize> {
        let value = self.take(name)?;
        as_int(&value).ok_or_else(|| self.mismatch(name, "an integer", &value))
    }

    pub(super) fn optional_int(&mut self, name: &'static str) -> Result<Option<isize>> {
        match self.take(name)? {
            Value::Nil => Ok(None),
            value => as_int(&value).map(Some).ok_or_else(|| self.mismatch(name, "an integer or nil", &value)),
        }
    }

    pub(super) fn int_or(&mut self, name: &'static str, default: isize) -> Result<isize> {
        Ok(self.optional_int(name)?.unwrap_or(default))
    }

    /// A count or extent: an integer that is not negative.
    pub(super) fn size(&mut self, name: &'static str) -> Result<usize> {
        let value = self.take(name)?;
        let size = as_int(&value).and_then(|size| usize::try_from(size).ok());
        size.ok_or_else(|| self.mismatch(name, "an integer of at least 0", &value))
    }

    pub(super) fn flag(&mut self, name: &'static str) -> Result<bool> {
        match self.take(name)? {
            Value::Nil => Ok(false),
            Value::Boolean(value) => Ok(value),
            value => Err(self.mismatch(name, "true or false", &value)),
        }
    }

    pub(super) fn named_flag(&mut self, name: &'static str) -> Result<bool> {
        match self.take_named(name)? {
            Value::Nil => Ok(false),
            Value::Boolean(value) => Ok(value),
            value => Err(self.mismatch(name, "true or false", &value)),
        }
    }

    pub(super) fn string(&mut self, name: &'static str) -> Result<Option<String>> {
        match self.take(name)? {
            Value::Nil => Ok(None),
            Value::String(value) => Ok(Some(value.to_string_lossy())),
            value => Err(self.mismatch(name, "a string", &value)),
        }
    }

    pub(super) fn named_string(&mut self, name: &'static str) -> Result<Option<String>> {
        match self.take_named(name)? {
            Value::Nil => Ok(None),
            Value::String(value) => Ok(Some(value.to_string_lossy())),
            value => Err(self.mismatch(name, "a string", &value)),
        }
    }

    /// Dims to reduce: nil (all of them, an empty list), one integer or a list.
    pub(super) fn dims(&mut self, name: &'static str) -> Result<Vec<isize>> {
        match self.take(name)? {
            Value::Nil => Ok(Vec::new()),
            value => {
                let dims = as_int(&value).map(|dim| vec![dim]).or_else(|| as_ints(&value));
                dims.ok_or_else(|| self.mismatch(name, "an integer or a list of integers", &value))
            }
        }
    }

    /// A list of integers, or all remaining positional arguments: `reshape({2, -1})` or `reshape(2, -1)`.
    pub(super) fn ints(&mut self, name: &'static str) -> Result<Vec<isize>> {
        let remaining = self.values.get(self.next..).unwrap_or_default();
        if remaining.iter().any(|value| matches!(value, Value::Integer(_) | Value::Number(_))) {
            let ints = remaining.iter().map(as_int).collect::<Option<Vec<_>>>();
            let wrong = remaining.iter().find(|value| as_int(value).is_none());
            let ints = ints.ok_or_else(|| self.mismatch(name, "integers", wrong.unwrap_or(&Value::Nil)))?;
            self.known.push(name);
            self.next = self.values.len();
            return Ok(ints);
        }
        let value = self.take(name)?;
        as_ints(&value).ok_or_else(|| self.mismatch(name, "a list of integers", &value))
    }

    /// As [`Args::ints`] for extents, which are not negative.
    pub(super) fn sizes(&mut self, name: &'static str) -> Result<Vec<usize>> {
        let sizes = self.ints(name)?;
        let convert = |&size: &isize| {
            usize::try_from(size).map_err(|_| self.fault(format!("argument '{name}' has the negative extent {size}")))
        };
        sizes.iter().map(convert).collect()
    }

    pub(super) fn dtype(&mut self, name: &'static str) -> Result<Option<DType>> {
        let value = self.take(name)?;
        self.as_dtype(name, value)
    }

    pub(super) fn named_dtype(&mut self) -> Result<Option<DType>> {
        let value = self.take_named("dtype")?;
        self.as_dtype("dtype", value)
    }

    fn as_dtype(&self, name: &str, value: Value) -> Result<Option<DType>> {
        match value {
            Value::Nil => Ok(None),
            Value::String(text) => {
                let dtype = text.to_string_lossy().parse::<DType>();
                dtype.map(Some).map_err(|error| self.fault(format!("argument '{name}': {error}")))
            }
            value => Err(self.mismatch(name, "a dtype name such as \"float32\"", &value)),
        }
    }

    /// Any value, for ops that read tables of their own.
    pub(super) fn value(&mut self, name: &'static str) -> Result<Value> {
        self.take(name)
    }
}

pub(super) fn as_tensor(value: &Value) -> Option<Tensor> {
    let userdata = value.as_userdata()?;
    userdata.borrow::<LuaTensor>().ok().map(|tensor| tensor.0.clone())
}

pub(super) fn as_number(value: &Value) -> Option<Number> {
    match value {
        Value::Integer(value) => Some(Number::Int(*value)),
        Value::Number(value) => Some(Number::Float(*value)),
        Value::Boolean(value) => Some(Number::Bool(*value)),
        _ => None,
    }
}

fn as_int(value: &Value) -> Option<isize> {
    match value {
        Value::Integer(value) => isize::try_from(*value).ok(),
        _ => None,
    }
}

fn as_ints(value: &Value) -> Option<Vec<isize>> {
    as_list(value)?.iter().map(as_int).collect()
}

/// The items of a table that is a sequence and nothing else.
pub(super) fn as_list(value: &Value) -> Option<Vec<Value>> {
    let table = value.as_table()?;
    let items = (1..=table.raw_len()).map(|index| table.raw_get(index)).collect::<mlua::Result<Vec<Value>>>().ok()?;
    let pairs = table.pairs::<Value, Value>().count();
    (pairs == items.len() && items.iter().all(|item| !item.is_nil())).then_some(items)
}

/// A value in a message.
pub(super) fn describe(value: &Value) -> String {
    match value {
        Value::Nil => "nil".into(),
        Value::Boolean(value) => format!("boolean {value}"),
        Value::Integer(value) => format!("integer {value}"),
        Value::Number(value) => format!("number {value}"),
        Value::String(value) => format!("string '{}'", value.to_string_lossy()),
        Value::UserData(_) => {
            as_tensor(value).map_or("userdata".into(), |tensor| format!("tensor {}", tensor.describe()))
        }
        other => format!("a {}", other.type_name()),
    }
}

/// The candidate that is spelled most like `word`, if any is close.
pub(super) fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let scored = candidates.map(|name| (strsim::jaro_winkler(word, name), name));
    scored.filter(|(score, _)| *score > 0.7).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name)
}
