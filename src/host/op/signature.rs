//! An op at a case: arguments, outputs, least work, domain.

use mlua::{Function, Lua, Table, Value};
use serde::Deserialize;

use super::spec::parse_types;
use super::{Op, Param, TypeSpec};
use crate::host::convert::{from_lua, to_lua};
use crate::host::{Host, HostError};
use crate::model::{Argument, Case, Scalar, Signature, TensorMeta};

/// Least traffic (bytes) or arithmetic (floating-point operations) of one pass each way.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Work {
    pub forward: f64,
    pub backward: f64,
}

impl Op {
    /// The arguments at `case`, in signature order.
    pub fn arguments(&self, case: &Case) -> Result<Vec<Argument>, HostError> {
        let argument = |param: &Param| {
            Ok(match param {
                Param::Tensor(tensor) if tensor.optional && !case.present.contains(&tensor.name) => {
                    Argument::Absent { name: tensor.name.clone() }
                }
                Param::Tensor(tensor) => Argument::Tensor(self.meta(&tensor.name, &tensor.type_spec, case)?),
                Param::Scalar(scalar) => Argument::Scalar {
                    name: scalar.name.clone(),
                    value: case.args.get(&scalar.name).unwrap_or(&scalar.default).clone(),
                },
            })
        };
        self.spec.params.iter().map(argument).collect()
    }

    /// The tensors among the arguments.
    pub fn input_metas(&self, case: &Case) -> Result<Vec<TensorMeta>, HostError> {
        let tensors = self.arguments(case)?.into_iter().filter_map(|argument| match argument {
            Argument::Tensor(meta) => Some(meta),
            Argument::Absent { .. } | Argument::Scalar { .. } => None,
        });
        Ok(tensors.collect())
    }

    /// The declared outputs at `case`, named `out0`, `out1`, ….
    pub fn output_metas(&self, case: &Case) -> Result<Vec<TensorMeta>, HostError> {
        let types = match (&self.spec.returns, &self.functions.returns) {
            (Some(types), _) => types.clone(),
            (None, Some(returns)) => {
                let lua = self.lua()?;
                let value: Value = self.call(returns, "returns", self.case_view(&lua, case)?)?;
                let texts: Vec<String> = from_lua(&value, &format!("{}: returns", self.file))?;
                let types = parse_types(&texts).map_err(|message| self.fault(format!("returns{message}")))?;
                let dims: Vec<&str> = self.spec.dims().into_iter().collect();
                for output in &types {
                    self.spec.check_output(output, &dims).map_err(|m| self.fault(format!("returns: {m}")))?;
                }
                types
            }
            (None, None) => return Err(self.fault("no output types")),
        };
        types.iter().enumerate().map(|(i, output)| self.meta(&format!("out{i}"), output, case)).collect()
    }

    /// Names of the inputs of `case` that get a gradient, in signature order.
    pub fn grads(&self, case: &Case) -> Vec<String> {
        let present = |name: &String, optional: bool| !optional || case.present.contains(name);
        let tensors = self.spec.tensors().filter(|t| present(&t.name, t.optional) && self.spec.needs_grad(t));
        tensors.map(|tensor| tensor.name.clone()).collect::<Vec<_>>()
    }

    /// What a candidate is called with and must return.
    pub fn signature(&self, case: &Case) -> Result<Signature, HostError> {
        Ok(Signature {
            op: self.spec.name.clone(),
            args: self.arguments(case)?,
            outputs: self.output_metas(case)?,
            grads: self.grads(case),
        })
    }

    /// Least traffic at `case`, in bytes.
    pub fn bytes(&self, case: &Case) -> Result<Work, HostError> {
        self.work(&self.functions.bytes, "bytes", case)
    }

    /// Least arithmetic at `case`, in floating-point operations.
    pub fn flops(&self, case: &Case) -> Result<Work, HostError> {
        self.work(&self.functions.flops, "flops", case)
    }

    fn work(&self, function: &Function, name: &str, case: &Case) -> Result<Work, HostError> {
        let lua = self.lua()?;
        let (forward, backward): (Value, Value) = self.call(function, name, self.case_view(&lua, case)?)?;
        let number = |value: &Value, which: &str| match value.as_number().or(value.as_integer().map(|i| i as f64)) {
            Some(number) if number.is_finite() && number >= 0.0 => Ok(number),
            _ => Err(self.fault(format!("{name}: expected two numbers (forward, backward), {which} is {value:?}"))),
        };
        Ok(Work { forward: number(&forward, "forward")?, backward: number(&backward, "backward")? })
    }

    /// Whether the op is defined at `case`; the reason if not.
    pub(super) fn check_domain(&self, case: &Case) -> Result<(), String> {
        let Some(domain) = &self.functions.domain else { return Ok(()) };
        let verdict = self.lua().and_then(|lua| self.call(domain, "domain", self.case_view(&lua, case)?));
        let (inside, reason): (Value, Value) = verdict.map_err(|error| error.message)?;
        match inside {
            Value::Boolean(true) => Ok(()),
            Value::Boolean(false) | Value::Nil => {
                let reason = reason.as_string().map(|reason| format!(": {}", reason.to_string_lossy()));
                Err(format!("outside the domain of {}{}", self.spec.name, reason.unwrap_or_default()))
            }
            other => Err(format!("{}: domain: expected true or false, got {}", self.file, other.type_name())),
        }
    }

    /// The case as an op's functions see it: `dims`, `batch`, `dtype`, `args`, `present`, and per tensor argument
    /// `numel`, `bytes` (both 0 for an absent optional) and `shape`.
    pub(super) fn case_view(&self, lua: &Lua, case: &Case) -> Result<Table, HostError> {
        let host = Host::of(lua)?;
        let dims = lua.create_table_from(case.dims.iter().map(|(name, extent)| (name.as_str(), *extent)))?;
        let args = lua.create_table()?;
        for (name, value) in &case.args {
            args.set(name.as_str(), scalar_to_lua(lua, value)?)?;
        }
        let (numel, bytes, shape, present) =
            (lua.create_table()?, lua.create_table()?, lua.create_table()?, lua.create_table()?);
        for argument in self.arguments(case)? {
            match argument {
                Argument::Tensor(meta) => {
                    numel.set(meta.name.as_str(), meta.numel())?;
                    bytes.set(meta.name.as_str(), meta.bytes())?;
                    shape.set(meta.name.as_str(), meta.shape.as_slice())?;
                    present.set(meta.name.as_str(), true)?;
                }
                Argument::Absent { name } => {
                    numel.set(name.as_str(), 0)?;
                    bytes.set(name.as_str(), 0)?;
                    present.set(name, false)?;
                }
                Argument::Scalar { .. } => {}
            }
        }
        let view = lua.create_table()?;
        view.set("dims", host.strict("case.dims", dims)?)?;
        view.set("batch", case.batch.as_slice())?;
        view.set("dtype", case.dtype.name())?;
        view.set("itemsize", case.dtype.size())?;
        view.set("args", args)?;
        view.set("present", host.strict("case.present", present)?)?;
        view.set("numel", host.strict("case.numel", numel)?)?;
        view.set("bytes", host.strict("case.bytes", bytes)?)?;
        view.set("shape", host.strict("case.shape", shape)?)?;
        Ok(host.strict("case", view)?)
    }

    fn meta(&self, name: &str, type_spec: &TypeSpec, case: &Case) -> Result<TensorMeta, HostError> {
        let shape = type_spec.extents(case).map_err(|message| self.fault(format!("{name}: {message}")))?;
        Ok(TensorMeta { name: name.to_owned(), dtype: type_spec.element.at(case.dtype), shape })
    }

    /// Calls one of the op's functions under the deadline.
    pub(super) fn call<R: mlua::FromLuaMulti>(
        &self,
        function: &Function,
        what: &str,
        args: impl mlua::IntoLuaMulti,
    ) -> Result<R, HostError> {
        let host = Host::of(&self.lua()?)?;
        let what = if what == "reference" { "the reference".to_owned() } else { format!("the function '{what}'") };
        host.with_deadline(&what, "make it terminate, or name a smaller case", || Ok(function.call(args)?))
    }
}

/// None is nil.
pub(super) fn scalar_to_lua(lua: &Lua, value: &Scalar) -> Result<Value, HostError> {
    to_lua(lua, value)
}
