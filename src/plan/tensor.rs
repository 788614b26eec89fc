//! Symbolic tensors: a contiguous place in a buffer with a shape. There is no data to look at.

use std::rc::Rc;

use mlua::{IntoLua, Lua, MetaMethod, MultiValue, UserData, UserDataMethods, Value};

use super::call::Call;
use super::error::{describe, location, raise, suggest};
use super::recorder::Recorder;
use crate::model::{BufferRef, DType, PlanErrorKind};

/// Contiguous and row-major. Clones share the buffer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tensor {
    pub(super) name: Rc<str>,
    pub(super) place: BufferRef,
    pub(super) dtype: DType,
    pub(super) shape: Vec<u64>,
}

type Getter = fn(&Lua, &Tensor) -> mlua::Result<Value>;

/// Everything a tensor has, by name; the stub documents the same list.
pub(super) const FIELDS: &[(&str, Getter)] = &[
    ("shape", |lua, this| lua.create_sequence_from(this.shape.iter().copied())?.into_lua(lua)),
    ("dtype", |lua, this| this.dtype.name().into_lua(lua)),
    ("numel", |lua, this| this.numel().into_lua(lua)),
    ("ndim", |lua, this| this.shape.len().into_lua(lua)),
    ("name", |lua, this| this.name.as_ref().into_lua(lua)),
    ("view", |lua, _| lua.create_function(view)?.into_lua(lua)),
    ("flatten", |lua, _| lua.create_function(flatten)?.into_lua(lua)),
    ("narrow", |lua, _| lua.create_function(narrow)?.into_lua(lua)),
];

impl Tensor {
    pub(super) fn numel(&self) -> u64 {
        self.shape.iter().product()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.numel() * self.dtype.size() as u64
    }

    /// `float32 [4, 8]`.
    pub(super) fn describe(&self) -> String {
        format!("{} {:?}", self.dtype, self.shape)
    }

    pub(super) fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::UserData(data) => data.borrow::<Self>().ok().map(|tensor| tensor.clone()),
            _ => None,
        }
    }
}

impl UserData for Tensor {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |lua, this, key: Value| {
            let name = key_name(&key);
            match FIELDS.iter().find(|(known, _)| Some(*known) == name.as_deref()) {
                Some((_, get)) => get(lua, this),
                None => Err(unknown(lua, "a tensor", &key, FIELDS.iter().map(|(name, _)| *name))),
            }
        });
        methods.add_meta_method(MetaMethod::NewIndex, |lua, _, (key, _): (Value, Value)| -> mlua::Result<()> {
            Err(frozen(lua, "a tensor", &key))
        });
        methods.add_meta_method(MetaMethod::ToString, |_, this, ()| Ok(format!("{}: {}", this.name, this.describe())));
        methods.add_meta_function(MetaMethod::Eq, |_, (a, b): (Value, Value)| {
            Ok(Tensor::from_value(&a).is_some_and(|a| Tensor::from_value(&b).is_some_and(|b| a == b)))
        });
    }
}

fn key_name(key: &Value) -> Option<String> {
    match key {
        Value::String(text) => Some(text.to_string_lossy()),
        _ => None,
    }
}

/// An error for a field that does not exist. Reading nil instead would hide the typing mistake.
pub(super) fn unknown<'a>(lua: &Lua, what: &str, key: &Value, known: impl IntoIterator<Item = &'a str>) -> mlua::Error {
    let at = here(lua);
    match key_name(key) {
        Some(name) => raise(PlanErrorKind::Candidate, format!("{at}: {what} has no '{name}'{}", suggest(&name, known))),
        None => raise(
            PlanErrorKind::Candidate,
            format!("{at}: {what} cannot be indexed with {}: a plan is made of shapes, it has no data", describe(key)),
        ),
    }
}

/// An error for an assignment to something of popcorn's.
pub(super) fn frozen(lua: &Lua, what: &str, key: &Value) -> mlua::Error {
    raise(PlanErrorKind::Candidate, format!("{}: {what} cannot be changed (key {})", here(lua), describe(key)))
}

fn here(lua: &Lua) -> String {
    let file = lua.app_data_ref::<Recorder>().map(|recorder| recorder.file.clone()).unwrap_or_default();
    location(lua, &file)
}

/// `t:view(shape)`: the same bytes in another shape; one extent may be -1.
fn view(lua: &Lua, values: MultiValue) -> mlua::Result<Tensor> {
    let call = Call::new(lua, "tensor:view(shape)", super::limits::NDIM + 1, values)?;
    let tensor = call.tensor(0, "self")?;
    let mut extents = match call.value(1) {
        Value::Table(table) if call.len() == 2 => call.integers(table, "shape")?,
        _ => (1..call.len()).map(|index| call.integer(index, "shape")).collect::<mlua::Result<_>>()?,
    };
    let misfit = |extents: &[i64]| {
        call.fail(format!("shape {extents:?} does not hold the {} elements of {}", tensor.numel(), tensor.describe()))
    };
    let asked = extents.clone();
    let known = extents
        .iter()
        .filter(|extent| **extent != -1)
        .try_fold(1u64, |product, extent| product.checked_mul(u64::try_from(*extent).ok()?))
        .ok_or_else(|| misfit(&asked))?;
    let mut free = extents.iter_mut().filter(|extent| **extent == -1);
    if let Some(extent) = free.next() {
        if free.next().is_some() {
            return Err(call.fail(format!("shape {asked:?} has more than one -1")));
        }
        if known == 0 || !tensor.numel().is_multiple_of(known) {
            return Err(misfit(&asked));
        }
        *extent = (tensor.numel() / known) as i64;
    } else if known != tensor.numel() {
        return Err(misfit(&asked));
    }
    Ok(Tensor { shape: extents.iter().map(|extent| *extent as u64).collect(), ..tensor })
}

/// `t:flatten()`: one dimension.
fn flatten(lua: &Lua, values: MultiValue) -> mlua::Result<Tensor> {
    let tensor = Call::new(lua, "tensor:flatten()", 1, values)?.tensor(0, "self")?;
    Ok(Tensor { shape: vec![tensor.numel()], ..tensor })
}

/// `t:narrow(0, start, length)`: some rows. Other dimensions would not be contiguous.
fn narrow(lua: &Lua, values: MultiValue) -> mlua::Result<Tensor> {
    let call = Call::new(lua, "tensor:narrow(0, start, length)", 4, values)?;
    let tensor = call.tensor(0, "self")?;
    let (dim, start, length) = (call.integer(1, "dim")?, call.integer(2, "start")?, call.integer(3, "length")?);
    if dim != 0 {
        return Err(call.fail(format!("dim must be 0 (other dimensions are not contiguous), got {dim}")));
    }
    let Some(&rows) = tensor.shape.first() else {
        return Err(call.fail("a tensor without dimensions cannot be narrowed"));
    };
    let inside = start >= 0 && length >= 0 && (start as u64).checked_add(length as u64).is_some_and(|end| end <= rows);
    if !inside {
        return Err(call.fail(format!("start {start} and length {length} do not lie in 0 .. {rows}")));
    }
    let row_bytes = tensor.shape[1..].iter().product::<u64>() * tensor.dtype.size() as u64;
    let mut shape = tensor.shape.clone();
    shape[0] = length as u64;
    let place = BufferRef { byte_offset: tensor.place.byte_offset + start as u64 * row_bytes, ..tensor.place };
    Ok(Tensor { shape, place, ..tensor })
}
