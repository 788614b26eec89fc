//! What an op file declares, typed and checked.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use mlua::{Function, Value};
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::shape::{Extent, TypeSpec, is_name};
use crate::host::HostError;
use crate::host::convert::{FunctionRef, ListOrFunction, from_lua_with_functions};
use crate::host::suggest::did_you_mean;
use crate::model::{DType, Scalar};

/// An op's declaration. Order of `params` is the order of arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct OpSpec {
    pub name: String,
    pub summary: String,
    pub tags: Vec<String>,
    pub params: Vec<Param>,
    /// Types of the outputs; None when a function of the case gives them.
    pub returns: Option<Vec<TypeSpec>>,
    /// Float parameters without a gradient.
    pub no_grad: BTreeSet<String>,
    /// Bounds that replace the table's, by dtype.
    pub tolerance: BTreeMap<DType, f64>,
    /// Implementation name → module in `kernels/` without `.lua`.
    pub impls: BTreeMap<String, String>,
}

/// One parameter of the signature.
#[derive(Clone, Debug, PartialEq)]
pub enum Param {
    Tensor(TensorParam),
    Scalar(ScalarParam),
}

#[derive(Clone, Debug, PartialEq)]
pub struct TensorParam {
    pub name: String,
    pub type_spec: TypeSpec,
    pub optional: bool,
    /// Values of an integer tensor: `low` included, `high` not.
    pub range: Option<(Bound, Bound)>,
}

/// Every value of `values` is of the default's kind or None; the default comes first.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalarParam {
    pub name: String,
    pub default: Scalar,
    pub values: Vec<Scalar>,
}

/// An end of a range: a number, or an extent such as `vocab`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    Number(i64),
    Extent(Extent),
}

/// The Lua functions of an op.
#[derive(Clone, Debug)]
pub struct OpFunctions {
    pub reference: Function,
    pub bytes: Function,
    pub flops: Function,
    pub returns: Option<Function>,
    pub domain: Option<Function>,
    pub inputs: BTreeMap<String, Function>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawOp {
    summary: String,
    #[serde(default)]
    tags: Vec<String>,
    params: Vec<RawParam>,
    returns: ListOrFunction<String>,
    reference: FunctionRef,
    #[serde(default)]
    inputs: BTreeMap<String, FunctionRef>,
    #[serde(default)]
    no_grad: Vec<String>,
    #[serde(default)]
    tolerance: BTreeMap<DType, f64>,
    #[serde(default)]
    domain: Option<FunctionRef>,
    bytes: FunctionRef,
    flops: FunctionRef,
    #[serde(default)]
    impls: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawParam {
    #[serde(rename = "1")]
    name: String,
    #[serde(rename = "2")]
    second: Plain,
    #[serde(default)]
    optional: bool,
    #[serde(default)]
    values: Option<Vec<Plain>>,
    #[serde(default)]
    range: Option<(Plain, Plain)>,
}

/// A scalar as it stands in a Lua file.
#[derive(Clone, Debug)]
pub(super) struct Plain(pub(super) Scalar);

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Plainly;
        impl<'de> Visitor<'de> for Plainly {
            type Value = Plain;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string, a number, a boolean, a list of integers or popcorn.null")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Plain, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = list.next_element()? {
                    values.push(value);
                }
                Ok(Plain(Scalar::Ints(values)))
            }
            fn visit_bool<E: de::Error>(self, value: bool) -> Result<Plain, E> {
                Ok(Plain(Scalar::Bool(value)))
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Plain, E> {
                Ok(Plain(Scalar::Int(value)))
            }
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Plain, E> {
                Ok(Plain(Scalar::Float(value)))
            }
            fn visit_str<E: de::Error>(self, value: &str) -> Result<Plain, E> {
                Ok(Plain(Scalar::Str(value.to_owned())))
            }
            fn visit_unit<E: de::Error>(self) -> Result<Plain, E> {
                Ok(Plain(Scalar::None))
            }
        }
        deserializer.deserialize_any(Plainly)
    }
}

impl OpSpec {
    /// Checks the table that `ops/<name>.lua` returned.
    pub fn from_lua(name: &str, file: &str, value: &Value) -> Result<(Self, OpFunctions), HostError> {
        let (raw, functions) = from_lua_with_functions::<RawOp>(value, file)?;
        let function = |FunctionRef(index): FunctionRef| functions[index].clone();
        let fail = |message: String| HostError::script(format!("{file}: {message}"));

        let mut params = Vec::with_capacity(raw.params.len());
        for (i, param) in raw.params.into_iter().enumerate() {
            params.push(param.check().map_err(|message| fail(format!("params[{}]{message}", i + 1)))?);
        }
        let returns_function = match &raw.returns {
            ListOrFunction::Function(returns) => Some(function(*returns)),
            ListOrFunction::List(_) => None,
        };
        let returns = match raw.returns {
            ListOrFunction::Function(_) => None,
            ListOrFunction::List(types) => Some(parse_types(&types).map_err(|m| fail(format!("returns{m}")))?),
        };
        let spec = Self {
            name: name.to_owned(),
            summary: raw.summary,
            tags: raw.tags,
            params,
            returns,
            no_grad: raw.no_grad.iter().cloned().collect(),
            tolerance: raw.tolerance,
            impls: raw.impls,
        };
        spec.check(&raw.no_grad, raw.inputs.keys()).map_err(fail)?;
        let functions = OpFunctions {
            reference: function(raw.reference),
            bytes: function(raw.bytes),
            flops: function(raw.flops),
            returns: returns_function,
            domain: raw.domain.map(function),
            inputs: raw.inputs.into_iter().map(|(name, index)| (name, function(index))).collect(),
        };
        Ok((spec, functions))
    }

    pub fn tensors(&self) -> impl Iterator<Item = &TensorParam> {
        self.params.iter().filter_map(|param| match param {
            Param::Tensor(tensor) => Some(tensor),
            Param::Scalar(_) => None,
        })
    }

    pub fn scalars(&self) -> impl Iterator<Item = &ScalarParam> {
        self.params.iter().filter_map(|param| match param {
            Param::Scalar(scalar) => Some(scalar),
            Param::Tensor(_) => None,
        })
    }

    /// Names of the dims, sorted.
    pub fn dims(&self) -> BTreeSet<&str> {
        self.tensors().flat_map(|tensor| tensor.type_spec.dims()).collect()
    }

    /// Whether cases have leading extents (`...`).
    pub fn has_batch(&self) -> bool {
        self.tensors().any(|tensor| tensor.type_spec.has_batch())
    }

    /// Whether a tensor parameter gets a gradient.
    pub fn needs_grad(&self, tensor: &TensorParam) -> bool {
        tensor.type_spec.element.is_float() && !self.no_grad.contains(&tensor.name)
    }

    fn check<'a>(&self, no_grad: &[String], inputs: impl Iterator<Item = &'a String>) -> Result<(), String> {
        if self.summary.trim().is_empty() {
            return Err("summary: expected a sentence, got an empty string".to_owned());
        }
        let tensors: Vec<&str> = self.tensors().map(|tensor| tensor.name.as_str()).collect();
        if tensors.is_empty() {
            return Err("params: an op needs at least one tensor".to_owned());
        }
        let mut seen = BTreeSet::new();
        for (i, param) in self.params.iter().enumerate() {
            if !seen.insert(param.name()) {
                return Err(format!("params[{}]: a second parameter '{}'", i + 1, param.name()));
            }
        }
        let dims = self.dims();
        if let Some(clash) = self.scalars().find(|scalar| dims.contains(scalar.name.as_str())) {
            return Err(format!("'{}' is both a dim and a scalar; a case could not tell them apart", clash.name));
        }
        for (i, name) in no_grad.iter().enumerate() {
            match self.tensors().find(|tensor| tensor.name == *name) {
                Some(tensor) if tensor.type_spec.element.is_float() => {}
                Some(_) => return Err(format!("no_grad[{}]: '{name}' is not a float tensor", i + 1)),
                None => return Err(unknown(&format!("no_grad[{}]", i + 1), "tensor", name, &tensors)),
            }
        }
        for name in inputs {
            if !tensors.contains(&name.as_str()) {
                return Err(unknown("inputs", "tensor", name, &tensors));
            }
        }
        let integers = self.scalars().filter(|scalar| matches!(scalar.default, Scalar::Int(_)));
        let integers: Vec<&str> = integers.map(|scalar| scalar.name.as_str()).collect();
        let types = self.tensors().map(|tensor| &tensor.type_spec).chain(self.returns.iter().flatten());
        for (spec, name) in types.flat_map(|spec| spec.shape.iter().map(move |extent| (spec, extent.argument()))) {
            if let Some(name) = name.filter(|name| !integers.contains(name)) {
                return Err(unknown(&format!("'{spec}'"), "integer argument", name, &integers));
            }
        }
        let dim_names: Vec<&str> = dims.iter().copied().collect();
        for (i, output) in self.returns.iter().flatten().enumerate() {
            self.check_output(output, &dim_names).map_err(|message| format!("returns[{}]: {message}", i + 1))?;
        }
        for tensor in self.tensors() {
            for bound in tensor.range.iter().flat_map(|(low, high)| [low, high]) {
                if let Bound::Extent(extent) = bound {
                    let unknown_dim = match extent {
                        Extent::Dim(dim) | Extent::Derived { dim, .. } | Extent::Repeated { dim, .. } => {
                            (!dims.contains(dim.as_str())).then_some(dim)
                        }
                        _ => None,
                    };
                    if let Some(dim) = unknown_dim {
                        return Err(unknown(&format!("params '{}': range", tensor.name), "dim", dim, &dim_names));
                    }
                }
            }
        }
        if let Some((dtype, bound)) =
            self.tolerance.iter().find(|(dtype, bound)| !dtype.is_float() || bound.is_nan() || **bound <= 0.0)
        {
            return Err(format!("tolerance.{dtype}: expected a positive bound of a float dtype, got {bound}"));
        }
        let bad_module = |module: &&String| !module.split('/').all(is_name);
        if let Some(module) = self.impls.values().find(bad_module) {
            return Err(format!("impls: '{module}' is not a module in kernels/; write the file name without .lua"));
        }
        Ok(())
    }

    /// An output may use the dims (and `...`) of the parameters only.
    pub(super) fn check_output(&self, output: &TypeSpec, dims: &[&str]) -> Result<(), String> {
        if output.has_batch() && !self.has_batch() {
            return Err(format!("'{output}': no parameter has '...'"));
        }
        match output.dims().find(|dim| !dims.contains(dim)) {
            Some(dim) => Err(unknown(&format!("'{output}'"), "dim", dim, dims)),
            None => Ok(()),
        }
    }
}

impl Param {
    pub fn name(&self) -> &str {
        match self {
            Self::Tensor(tensor) => &tensor.name,
            Self::Scalar(scalar) => &scalar.name,
        }
    }
}

impl RawParam {
    fn check(self) -> Result<Param, String> {
        let Self { name, second: Plain(second), optional, values, range } = self;
        if !is_name(&name) {
            return Err(format!("[1]: '{name}' is not a name"));
        }
        match (&second, values) {
            (Scalar::Str(text), None) => {
                let type_spec: TypeSpec = text.parse().map_err(|message| format!("[2]: {message}"))?;
                let integer = !type_spec.element.is_float() && !type_spec.is_bool();
                let range = match range {
                    Some((Plain(low), Plain(high))) if integer => Some((bound(low, 1)?, bound(high, 2)?)),
                    Some(_) => return Err(format!(".range: '{name}' is no integer tensor")),
                    None if integer => {
                        return Err(format!(
                            ": integer tensor '{name}' needs its range, such as range = {{ 0, \"vocab\" }}"
                        ));
                    }
                    None => None,
                };
                Ok(Param::Tensor(TensorParam { name, type_spec, optional, range }))
            }
            (_, values) => {
                if optional {
                    return Err(format!(".optional: '{name}' is a scalar; add popcorn.null to its values instead"));
                }
                if range.is_some() {
                    return Err(format!(".range: '{name}' is no integer tensor"));
                }
                let values = values.map_or_else(|| vec![second.clone()], |v| v.into_iter().map(|Plain(v)| v).collect());
                if values.first() != Some(&second) {
                    return Err(format!(".values: the default {second} must come first"));
                }
                let kind = values.iter().find(|value| **value != Scalar::None);
                for (i, value) in values.iter().enumerate() {
                    if *value != Scalar::None && kind.is_some_and(|kind| !same_kind(kind, value)) {
                        return Err(format!(".values[{}]: {value} is not of the same kind as the others", i + 1));
                    }
                    if matches!(value, Scalar::Float(value) if !value.is_finite()) {
                        return Err(format!(".values[{}]: {value} is not a finite number", i + 1));
                    }
                }
                Ok(Param::Scalar(ScalarParam { name, default: second, values }))
            }
        }
    }
}

impl TypeSpec {
    fn is_bool(&self) -> bool {
        self.element.at(DType::F32) == DType::Bool
    }
}

pub(super) fn same_kind(a: &Scalar, b: &Scalar) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
}

pub(super) fn parse_types(types: &[String]) -> Result<Vec<TypeSpec>, String> {
    if types.is_empty() {
        return Err(": expected at least one output type, got an empty list".to_owned());
    }
    types.iter().enumerate().map(|(i, text)| text.parse().map_err(|e| format!("[{}]: {e}", i + 1))).collect()
}

fn bound(value: Scalar, position: usize) -> Result<Bound, String> {
    match value {
        Scalar::Int(value) => Ok(Bound::Number(value)),
        Scalar::Str(text) => match text.parse() {
            Ok(Extent::Batch) | Err(_) => Err(format!(".range[{position}]: '{text}' is not an extent")),
            Ok(extent) => Ok(Bound::Extent(extent)),
        },
        other => Err(format!(".range[{position}]: expected an integer or a dim, got {other}")),
    }
}

fn unknown(at: &str, what: &str, name: &str, known: &[&str]) -> String {
    let near = did_you_mean(name, known.iter().copied());
    let near = if near.is_empty() { format!("; known: {}", known.join(" ")) } else { near };
    format!("{at}: unknown {what} '{name}'{near}")
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(value) => write!(f, "{value}"),
            Self::Extent(extent) => write!(f, "{extent}"),
        }
    }
}
