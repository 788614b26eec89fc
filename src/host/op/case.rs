//! Cases of an op: read from text or a table, checked, completed with defaults.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::spec::{Plain, same_kind};
use super::{Op, OpSpec, ScalarParam};
use crate::case::{Words, parse_scalar};
use crate::host::suggest::did_you_mean;
use crate::model::{Case, CaseParseError, DType, Scalar};

/// A case as a sampler writes it: what is left out has its default.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseTable {
    #[serde(default)]
    dims: BTreeMap<String, u64>,
    #[serde(default)]
    batch: Vec<u64>,
    dtype: DType,
    #[serde(default)]
    args: BTreeMap<String, Plain>,
    #[serde(default)]
    present: Vec<String>,
}

impl Op {
    /// Reads `normalized_shape=4096,batch=(64,),bfloat16,eps=1e-05,+bias`: words in any order, arguments that are left
    /// out have their defaults, no `batch` means `()`.
    pub fn parse_case(&self, text: &str) -> Result<Case, CaseParseError> {
        let fail = |message: String| CaseParseError { spec: text.to_owned(), message };
        let words: Words = text.parse()?;
        let mut dims = BTreeMap::new();
        let mut args = BTreeMap::new();
        for (name, value) in words.assignments {
            if self.spec.dims().contains(name.as_str()) {
                let extent = value.parse().map_err(|_| fail(format!("{name}={value}: expected a whole number")))?;
                dims.insert(name, extent);
            } else if let Some(param) = self.spec.scalars().find(|param| param.name == name) {
                args.insert(name, Plain(read_scalar(param, &value)));
            } else {
                return Err(fail(self.spec.unknown_word(&name)));
            }
        }
        let Some(dtype) = words.dtype else {
            let missing = missing_dims(&self.spec, &dims);
            let dims = if missing.is_empty() { String::new() } else { format!("{missing} and ") };
            return Err(fail(format!("missing: {dims}a dtype (float32, float16, bfloat16)")));
        };
        let batch = words.batch.unwrap_or_default();
        self.check_case(CaseTable { dims, batch, dtype, args, present: words.present }).map_err(fail)
    }

    /// Checks a case against the op and fills in defaults. The message names the word that is wrong.
    pub fn check_case(&self, table: CaseTable) -> Result<Case, String> {
        let CaseTable { dims, batch, dtype, args, present } = table;
        let spec = &self.spec;
        let known = spec.dims();
        if let Some(name) = dims.keys().find(|name| !known.contains(name.as_str())) {
            return Err(spec.unknown_word(name));
        }
        let missing = missing_dims(spec, &dims);
        if !missing.is_empty() {
            return Err(format!("missing: {missing}"));
        }
        if !batch.is_empty() && !spec.has_batch() {
            return Err(format!("{} has no leading extents ('...'), so no batch=(…)", spec.name));
        }
        if !dtype.is_float() {
            return Err(format!("a case's dtype is a float, got {dtype}"));
        }
        let mut complete = BTreeMap::new();
        for param in spec.scalars() {
            let value = args.get(&param.name).map_or(&param.default, |Plain(value)| value);
            check_scalar(param, value)?;
            complete.insert(param.name.clone(), value.clone());
        }
        if let Some(name) = args.keys().find(|name| !complete.contains_key(*name)) {
            return Err(spec.unknown_word(name));
        }
        let optional: Vec<&str> = spec.tensors().filter(|t| t.optional).map(|t| t.name.as_str()).collect();
        if let Some(name) = present.iter().find(|name| !optional.contains(&name.as_str())) {
            let near = did_you_mean(name, optional.iter().copied());
            let known = if optional.is_empty() { "none".to_owned() } else { optional.join(" ") };
            return Err(format!("'+{name}' is no optional tensor of {} (optional: {known}){near}", spec.name));
        }
        let case = Case { dims, batch, dtype, args: complete, present: present.into_iter().collect() };
        for tensor in spec.tensors() {
            tensor.type_spec.extents(&case).map_err(|message| format!("{}: {message}", tensor.name))?;
        }
        self.check_domain(&case)?;
        Ok(case)
    }
}

impl OpSpec {
    fn unknown_word(&self, name: &str) -> String {
        let words: Vec<&str> = self.dims().into_iter().chain(self.scalars().map(|param| param.name.as_str())).collect();
        let near = did_you_mean(name, words.iter().copied());
        format!("{} has no '{name}' (known: {}){near}", self.name, words.join(" "))
    }
}

fn missing_dims(spec: &OpSpec, dims: &BTreeMap<String, u64>) -> String {
    let missing: Vec<&str> = spec.dims().into_iter().filter(|name| !dims.contains_key(*name)).collect();
    missing.join(" ")
}

/// Text is read as the parameter's kind: `eps=1` is the float 1.0, `activation=1` a string.
fn read_scalar(param: &ScalarParam, text: &str) -> Scalar {
    let kind = param.values.iter().find(|value| **value != Scalar::None);
    match (kind, parse_scalar(text)) {
        (Some(Scalar::Float(_)), Scalar::Int(value)) => Scalar::Float(value as f64),
        (Some(Scalar::Str(_)), Scalar::None) if param.values.contains(&Scalar::None) => Scalar::None,
        (Some(Scalar::Str(_)), _) => Scalar::Str(text.to_owned()),
        (Some(Scalar::Bool(_)), _) if text == "true" || text == "false" => Scalar::Bool(text == "true"),
        (_, value) => value,
    }
}

/// Numbers may lie outside the pool; a string or None must be in it.
fn check_scalar(param: &ScalarParam, value: &Scalar) -> Result<(), String> {
    let name = &param.name;
    let pool = || param.values.iter().map(|value| format!("'{value}'")).collect::<Vec<_>>().join(" ");
    match value {
        Scalar::None | Scalar::Str(_) if !param.values.contains(value) => {
            let words: Vec<String> = param.values.iter().map(Scalar::to_string).collect();
            let near = did_you_mean(&value.to_string(), words.iter().map(String::as_str));
            Err(format!("{name}={value}: not one of {}{near}", pool()))
        }
        Scalar::Float(number) if !number.is_finite() => Err(format!("{name}={value}: not a finite number")),
        _ => match param.values.iter().find(|known| **known != Scalar::None) {
            Some(kind) if *value != Scalar::None && !same_kind(kind, value) => {
                Err(format!("{name}={value}: expected a value like {}", pool()))
            }
            _ => Ok(()),
        },
    }
}
