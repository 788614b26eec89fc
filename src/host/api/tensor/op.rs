//! A row of the op table and what ops return.

use mlua::{IntoLua, Lua, MultiValue, Value};

use super::args::Args;
use super::userdata::LuaTensor;
use super::{
    ops_arithmetic, ops_create, ops_elementwise, ops_index, ops_product, ops_recurrence, ops_reduce, ops_shape,
};
use crate::truth::{Number, Result, Tensor};

/// One op as Lua sees it.
pub(super) struct Op {
    pub(super) name: &'static str,
    /// LuaCATS parameters, `name: type` or `name?: type`, separated by `, `; then ` -> type` unless one Tensor is returned.
    /// A first parameter `self` makes the op a method too.
    pub(super) signature: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "the stub is rendered by its test"))]
    pub(super) doc: &'static str,
    pub(super) call: fn(&mut Args) -> Result<Returned>,
}

impl Op {
    pub(super) fn is_method(&self) -> bool {
        self.signature.starts_with("self")
    }
}

pub(super) const fn op(
    name: &'static str,
    signature: &'static str,
    doc: &'static str,
    call: fn(&mut Args) -> Result<Returned>,
) -> Op {
    Op { name, signature, doc, call }
}

/// Fields of a tensor with their LuaCATS type and documentation.
pub(super) const FIELDS: [(&str, &str, &str); 6] = [
    ("shape", "integer[]", "Extents, outermost first."),
    ("dtype", "tensor.DType", "Element type."),
    ("numel", "integer", "Number of elements."),
    ("ndim", "integer", "Number of dims."),
    ("T", "Tensor", "All dims in reverse order."),
    ("mT", "Tensor", "The last two dims swapped."),
];

/// Every op, grouped by family.
pub(super) fn all_ops() -> impl Iterator<Item = &'static Op> {
    let families: [&'static [Op]; 8] = [
        ops_create::OPS,
        ops_arithmetic::OPS,
        ops_elementwise::OPS,
        ops_reduce::OPS,
        ops_shape::OPS,
        ops_index::OPS,
        ops_product::OPS,
        ops_recurrence::OPS,
    ];
    families.into_iter().flatten()
}

/// Names of a tensor's methods.
pub fn method_names() -> Vec<&'static str> {
    all_ops().filter(|op| op.is_method()).map(|op| op.name).collect()
}

/// Names of the functions in the `tensor` module; methods are among them, taking the tensor first.
pub fn function_names() -> Vec<&'static str> {
    all_ops().map(|op| op.name).collect()
}

/// Names of a tensor's fields.
pub fn field_names() -> Vec<&'static str> {
    FIELDS.iter().map(|(name, _, _)| *name).collect()
}

/// What an op gives back to Lua.
pub(super) enum Returned {
    Tensor(Tensor),
    /// Several return values; None is nil.
    Tensors(Vec<Option<Tensor>>),
    Number(Number),
    /// Nested lists of a tensor's elements.
    List(Tensor),
}

/// One tensor.
pub(super) fn one(result: Result<Tensor>) -> Result<Returned> {
    result.map(Returned::Tensor)
}

/// Several tensors as several return values.
pub(super) fn many(result: Result<Vec<Tensor>>) -> Result<Returned> {
    result.map(|tensors| Returned::Tensors(tensors.into_iter().map(Some).collect()))
}

impl Returned {
    pub(super) fn into_multi(self, lua: &Lua) -> mlua::Result<MultiValue> {
        let value = match self {
            Self::Tensor(tensor) => LuaTensor::new(tensor).into_lua(lua)?,
            Self::Number(number) => number_value(number),
            Self::List(tensor) => nested_list(lua, &tensor, 0, &mut 0)?,
            Self::Tensors(tensors) => {
                return tensors.into_iter().map(|tensor| tensor.map(LuaTensor::new).into_lua(lua)).collect();
            }
        };
        Ok(MultiValue::from_iter([value]))
    }
}

fn number_value(number: Number) -> Value {
    match number {
        Number::Bool(value) => Value::Boolean(value),
        Number::Int(value) => Value::Integer(value),
        Number::Float(value) => Value::Number(value),
    }
}

fn nested_list(lua: &Lua, tensor: &Tensor, dim: usize, next: &mut usize) -> mlua::Result<Value> {
    let Some(&extent) = tensor.shape().get(dim) else {
        *next += 1;
        return Ok(number_value(tensor.number_at(*next - 1)));
    };
    let list = lua.create_table_with_capacity(extent, 0)?;
    for _ in 0..extent {
        list.raw_push(nested_list(lua, tensor, dim + 1, next)?)?;
    }
    Ok(Value::Table(list))
}
