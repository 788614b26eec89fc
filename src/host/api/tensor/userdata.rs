//! A tensor as a Lua value: fields, operators, methods.

use mlua::{FromLua, Lua, MetaMethod, MultiValue, UserData, UserDataFields, UserDataMethods, Value};

use super::args::{as_tensor, describe, nearest};
use super::install::{call_op, raise, sweep_garbage};
use super::op::{all_ops, field_names, method_names};
use crate::truth::{Error, Tensor};

/// A tensor in Lua. Cheap to clone.
#[derive(Clone, Debug)]
pub struct LuaTensor(pub Tensor);

impl LuaTensor {
    pub fn new(tensor: Tensor) -> Self {
        Self(tensor)
    }

    pub fn into_inner(self) -> Tensor {
        self.0
    }
}

impl FromLua for LuaTensor {
    fn from_lua(value: Value, _: &Lua) -> mlua::Result<Self> {
        let got = describe(&value);
        as_tensor(&value).map(Self).ok_or_else(|| mlua::Error::runtime(format!("expected a tensor, got {got}")))
    }
}

/// Lua operators and the ops they call.
const OPERATORS: [(MetaMethod, &str); 7] = [
    (MetaMethod::Add, "add"),
    (MetaMethod::Sub, "sub"),
    (MetaMethod::Mul, "mul"),
    (MetaMethod::Div, "div"),
    (MetaMethod::IDiv, "floor_divide"),
    (MetaMethod::Mod, "remainder"),
    (MetaMethod::Pow, "pow"),
];

impl UserData for LuaTensor {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("shape", |lua, this| lua.create_sequence_from(this.0.shape().iter().copied()));
        fields.add_field_method_get("dtype", |_, this| Ok(this.0.dtype().name()));
        fields.add_field_method_get("numel", |_, this| Ok(this.0.numel()));
        fields.add_field_method_get("ndim", |_, this| Ok(this.0.ndim()));
        fields
            .add_field_method_get("T", |lua, this| this.0.reverse_dims().map(Self).map_err(|error| raise(lua, &error)));
        fields.add_field_method_get("mT", |lua, this| {
            this.0.matrix_transpose().map(Self).map_err(|error| raise(lua, &error))
        });
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        for op in all_ops().filter(|op| op.is_method()) {
            methods.add_function(op.name, move |lua, values: MultiValue| call_op(lua, op, values));
        }
        for (operator, name) in OPERATORS {
            let Some(op) = all_ops().find(|op| op.name == name) else { continue };
            methods.add_meta_function(operator, move |lua, values: MultiValue| call_op(lua, op, values));
        }
        methods.add_meta_method(MetaMethod::Unm, |lua, this, _: Value| {
            sweep_garbage(lua)?;
            this.0.neg().map(Self).map_err(|error| raise(lua, &error))
        });
        methods.add_meta_function(MetaMethod::Eq, |lua, _: MultiValue| -> mlua::Result<bool> {
            let message = "compares values, not tensors; use x:eq(y) per element or x:equal(y)".to_owned();
            Err(raise(lua, &Error::Misuse { op: "==", message }))
        });
        methods.add_meta_method(MetaMethod::ToString, |_, this, ()| Ok(format!("{:?}", this.0)));
        methods.add_meta_method(MetaMethod::Index, |lua, _, key: Value| -> mlua::Result<Value> {
            let name = match &key {
                Value::String(name) => name.to_string_lossy(),
                other => {
                    let message =
                        format!("{} is no field; take elements with select, slice or narrow", describe(other));
                    return Err(raise(lua, &Error::Misuse { op: "tensor", message }));
                }
            };
            let known = || method_names().into_iter().chain(field_names());
            let hint = nearest(&name, known()).map_or(String::new(), |near| format!("; did you mean '{near}'?"));
            let message = format!("no field or method '{name}'{hint}");
            Err(raise(lua, &Error::Misuse { op: "tensor", message }))
        });
        methods.add_meta_function(MetaMethod::NewIndex, |lua, (_, key): (Value, Value)| -> mlua::Result<()> {
            let message = format!("tensors are immutable; cannot set {}", describe(&key));
            Err(raise(lua, &Error::Misuse { op: "tensor", message }))
        });
    }
}
