//! `popcorn.op`: ops by name, their cases, inputs and reference.

use std::rc::Rc;

use mlua::{FromLua, Lua, MetaMethod, MultiValue, Table, UserData, UserDataFields, UserDataMethods, Value};
use serde::Deserialize;

use super::arguments::{exactly, string};
use super::arguments::{tensor_from_lua, tensor_to_lua};
use super::case::{LuaCase, unknown_field};
use crate::host::op::{CaseTable, Op, Param};
use crate::host::{Host, HostError, from_lua, to_lua};
use crate::model::{Case, DType, Scalar};
use crate::truth::Tensor;

pub(super) fn install(lua: &Lua, popcorn: &Table) -> mlua::Result<()> {
    let module = lua.create_table()?;
    module.set(
        "load",
        lua.create_function(|lua, args: MultiValue| {
            let [name] = exactly("popcorn.op.load", args)?;
            let op = Op::load(&Host::of(lua)?, &string("popcorn.op.load", &name)?)?;
            Ok(LuaOp(Rc::new(op)))
        })?,
    )?;
    module.set(
        "names",
        lua.create_function(|lua, args: MultiValue| {
            let [] = exactly("popcorn.op.names", args)?;
            Ok(Op::names(&Host::of(lua)?)?)
        })?,
    )?;
    popcorn.set("op", module)
}

/// A loaded op as scripts see it.
#[derive(Clone, Debug)]
pub struct LuaOp(pub Rc<Op>);

/// Fields, for messages and the check of the stubs.
pub(crate) const FIELDS: [&str; 14] = [
    "about",
    "dims",
    "file",
    "has_batch",
    "impls",
    "name",
    "no_grad",
    "optional",
    "params",
    "returns",
    "scalars",
    "summary",
    "tags",
    "tolerance",
];

/// Methods, for messages and the check of the stubs.
pub(crate) const METHODS: [&str; 9] =
    ["bytes", "case", "cotangents", "draw", "evaluate", "flops", "signature", "size", "try_case"];

impl FromLua for LuaOp {
    fn from_lua(value: Value, _: &Lua) -> mlua::Result<Self> {
        match value.as_userdata().and_then(|userdata| userdata.borrow::<Self>().ok()) {
            Some(op) => Ok(op.clone()),
            None => {
                Err(HostError::script(format!("expected an op (from popcorn.op.load), got {}", value.type_name()))
                    .into())
            }
        }
    }
}

impl UserData for LuaOp {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("name", |_, op| Ok(op.0.spec.name.clone()));
        fields.add_field_method_get("about", |lua, op| Ok(op.0.about(&Host::of(lua)?)?));
        fields.add_field_method_get("file", |_, op| Ok(op.0.file.clone()));
        fields.add_field_method_get("summary", |_, op| Ok(op.0.spec.summary.clone()));
        fields.add_field_method_get("tags", |lua, op| Ok(to_lua(lua, &op.0.spec.tags)?));
        fields.add_field_method_get("dims", |lua, op| Ok(to_lua(lua, &op.0.spec.dims())?));
        fields.add_field_method_get("has_batch", |_, op| Ok(op.0.spec.has_batch()));
        fields.add_field_method_get("impls", |lua, op| Ok(to_lua(lua, &op.0.spec.impls)?));
        fields.add_field_method_get("no_grad", |lua, op| Ok(to_lua(lua, &op.0.spec.no_grad)?));
        fields.add_field_method_get("tolerance", |lua, op| {
            lua.create_table_from(op.0.spec.tolerance.iter().map(|(dtype, bound)| (dtype.name(), *bound)))
        });
        fields.add_field_method_get("optional", |lua, op| {
            let optional = op.0.spec.tensors().filter(|tensor| tensor.optional).map(|tensor| tensor.name.as_str());
            lua.create_sequence_from(optional)
        });
        fields.add_field_method_get("params", |lua, op| {
            let params = op.0.spec.params.iter().map(|param| param_table(lua, param));
            lua.create_sequence_from(params.collect::<mlua::Result<Vec<_>>>()?)
        });
        fields.add_field_method_get("returns", |lua, op| {
            let types = op.0.spec.returns.iter().flatten().map(ToString::to_string);
            lua.create_sequence_from(types)
        });
        fields.add_field_method_get("scalars", |lua, op| {
            let scalars = op.0.spec.params.iter().filter(|param| matches!(param, Param::Scalar(_)));
            lua.create_sequence_from(scalars.map(|param| param_table(lua, param)).collect::<mlua::Result<Vec<_>>>()?)
        });
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("case", |_, op, args: MultiValue| {
            let [spec] = exactly("op:case", args)?;
            Ok(LuaCase(read_case(&op.0, &spec)?.map_err(HostError::usage)?))
        });
        methods.add_method("try_case", |lua, op, args: MultiValue| {
            let [spec] = exactly("op:try_case", args)?;
            Ok(match read_case(&op.0, &spec)? {
                Ok(case) => (lua.pack(LuaCase(case))?, None),
                Err(reason) => (Value::Nil, Some(reason)),
            })
        });
        methods.add_method("signature", |lua, op, args: MultiValue| {
            let [case] = exactly("op:signature", args)?;
            Ok(to_lua(lua, &op.0.signature(&LuaCase::from_lua(case, lua)?.0)?)?)
        });
        methods.add_method("bytes", |lua, op, args: MultiValue| {
            let [case] = exactly("op:bytes", args)?;
            let work = op.0.bytes(&LuaCase::from_lua(case, lua)?.0)?;
            Ok((work.forward, work.backward))
        });
        methods.add_method("flops", |lua, op, args: MultiValue| {
            let [case] = exactly("op:flops", args)?;
            let work = op.0.flops(&LuaCase::from_lua(case, lua)?.0)?;
            Ok((work.forward, work.backward))
        });
        methods.add_method("size", |lua, op, args: MultiValue| {
            let [case] = exactly("op:size", args)?;
            let case = LuaCase::from_lua(case, lua)?;
            let metas = [op.0.input_metas(&case.0)?, op.0.output_metas(&case.0)?].concat();
            let size = lua.create_table()?;
            size.set("largest", metas.iter().map(|meta| meta.numel()).max().unwrap_or(0))?;
            size.set("total", metas.iter().map(|meta| meta.numel()).sum::<u64>())?;
            Ok(size)
        });
        methods.add_method("draw", |lua, op, args: MultiValue| {
            let [case, seed] = exactly("op:draw", args)?;
            let inputs = op.0.draw(&LuaCase::from_lua(case, lua)?.0, from_lua(&seed, "op:draw: seed")?)?;
            tensor_table(lua, inputs)
        });
        methods.add_method("cotangents", |lua, op, args: MultiValue| {
            let [case, seed] = exactly("op:cotangents", args)?;
            let case = LuaCase::from_lua(case, lua)?;
            let cotangents = op.0.draw_cotangents(&case.0, from_lua(&seed, "op:cotangents: seed")?)?;
            let values = cotangents.into_iter().map(|cotangent| match cotangent {
                Some(cotangent) => tensor_to_lua(lua, cotangent),
                None => Ok(Value::Boolean(false)),
            });
            lua.create_sequence_from(values.collect::<Result<Vec<_>, _>>()?)
        });
        methods.add_method("evaluate", evaluate);
        methods.add_meta_method(MetaMethod::ToString, |_, op, ()| Ok(format!("op {}", op.0.spec.name)));
        methods.add_meta_method(MetaMethod::Index, |_, _, key: Value| {
            unknown_field("an op", &key, &[&FIELDS[..], &METHODS[..]].concat())
        });
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EvaluateOptions {
    /// float64 (the default) for truth, the case's own for the honest error.
    #[serde(default)]
    dtype: Option<DType>,
}

/// `op:evaluate(case, inputs, cotangents?, { dtype = … }?)` → `{ outputs, grads }`.
fn evaluate(lua: &Lua, op: &LuaOp, args: MultiValue) -> mlua::Result<Table> {
    let [case, inputs, cotangents, options] = exactly("op:evaluate", args)?;
    let case = LuaCase::from_lua(case, lua)?.0;
    let Value::Table(inputs) = inputs else {
        return Err(HostError::script("op:evaluate: inputs: expected a table of tensors by name").into());
    };
    let mut tensors = Vec::new();
    for pair in inputs.pairs::<String, Value>() {
        let (name, value) = pair?;
        tensors.push((name.clone(), tensor_argument("op:evaluate: inputs", &name, &value)?));
    }
    let cotangents = match cotangents {
        Value::Nil => None,
        Value::Table(list) => Some(cotangent_list(&list)?),
        _ => return Err(HostError::script("op:evaluate: cotangents: expected a list of tensors or nil").into()),
    };
    let options: Option<EvaluateOptions> = from_lua(&options, "op:evaluate: options")?;
    let dtype = options.and_then(|options| options.dtype).unwrap_or(DType::F64);
    if !dtype.is_float() {
        return Err(
            HostError::script(format!("op:evaluate: options.dtype: expected a float dtype, got {dtype}")).into()
        );
    }
    let evaluation = op.0.evaluate(&case, &tensors, cotangents.as_deref(), dtype)?;
    let outputs = evaluation.outputs.into_iter().map(|output| tensor_to_lua(lua, output));
    let result = lua.create_table()?;
    result.set("outputs", lua.create_sequence_from(outputs.collect::<Result<Vec<_>, _>>()?)?)?;
    let grads = evaluation.grads.into_iter().filter_map(|(name, grad)| Some((name, grad?)));
    result.set("grads", tensor_table(lua, grads)?)?;
    Ok(result)
}

fn cotangent_list(list: &Table) -> Result<Vec<Option<Tensor>>, HostError> {
    let mut cotangents = Vec::new();
    for value in list.sequence_values::<Value>() {
        cotangents.push(match value? {
            Value::Boolean(false) => None,
            value => Some(tensor_argument("op:evaluate: cotangents", &(cotangents.len() + 1).to_string(), &value)?),
        });
    }
    Ok(cotangents)
}

fn tensor_argument(at: &str, name: &str, value: &Value) -> Result<Tensor, HostError> {
    tensor_from_lua(value)
        .ok_or_else(|| HostError::script(format!("{at}: {name}: expected a tensor, got {}", value.type_name())))
}

fn tensor_table(lua: &Lua, tensors: impl IntoIterator<Item = (String, Tensor)>) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    for (name, tensor) in tensors {
        table.set(name, tensor_to_lua(lua, tensor)?)?;
    }
    Ok(table)
}

/// A case from its text or from a sampler's table; the inner error says what is wrong with the case.
fn read_case(op: &Op, spec: &Value) -> Result<Result<Case, String>, HostError> {
    match spec {
        Value::String(text) => Ok(op.parse_case(&text.to_string_lossy()).map_err(|error| error.to_string())),
        Value::Table(_) => Ok(op.check_case(from_lua::<CaseTable>(spec, "op:case")?)),
        other => Err(HostError::script(format!("op:case: expected a string or a table, got {}", other.type_name()))),
    }
}

/// `{ name, kind = "tensor", type, optional, range? }` or `{ name, kind = "scalar", default, values, texts }`.
fn param_table(lua: &Lua, param: &Param) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    table.set("name", param.name())?;
    match param {
        Param::Tensor(tensor) => {
            table.set("kind", "tensor")?;
            table.set("type", tensor.type_spec.to_string())?;
            table.set("optional", tensor.optional)?;
            if let Some((low, high)) = &tensor.range {
                table.set("range", [low.to_string(), high.to_string()])?;
            }
        }
        Param::Scalar(scalar) => {
            // None stays visible in a list: JSON's null instead of a hole.
            let plain = |value: &Scalar| match value {
                Scalar::None => Ok(Value::NULL),
                value => to_lua(lua, value),
            };
            table.set("kind", "scalar")?;
            table.set("default", plain(&scalar.default)?)?;
            let values = scalar.values.iter().map(plain).collect::<Result<Vec<_>, _>>()?;
            table.set("values", lua.create_sequence_from(values)?)?;
            table.set("texts", lua.create_sequence_from(scalar.values.iter().map(Scalar::to_string))?)?;
        }
    }
    Ok(table)
}
