//! One point of an op's grid.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::DType;

/// A scalar argument's value. JSON keeps Lua's distinction of integers and floats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Scalar {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
    /// A list of integers, such as the sections of a rotary embedding.
    Ints(Vec<i64>),
}

/// Dims, leading batch extents (the shape that stands for `...`), dtype, scalar arguments and the optional
/// tensors that are present.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub dims: BTreeMap<String, u64>,
    pub batch: Vec<u64>,
    pub dtype: DType,
    pub args: BTreeMap<String, Scalar>,
    pub present: BTreeSet<String>,
}

/// Why a case specification could not be read; the message names the word and what was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("case '{spec}': {message}")]
pub struct CaseParseError {
    pub spec: String,
    pub message: String,
}
