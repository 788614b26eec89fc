//! Element types, under PyTorch's names.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Element type of a tensor. Lua and JSON spell it as PyTorch does (`float32`, `bfloat16`, …).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DType {
    #[serde(rename = "float64")]
    F64,
    #[serde(rename = "float32")]
    F32,
    #[serde(rename = "float16")]
    F16,
    #[serde(rename = "bfloat16")]
    BF16,
    #[serde(rename = "int64")]
    I64,
    #[serde(rename = "int32")]
    I32,
    #[serde(rename = "int8")]
    I8,
    #[serde(rename = "bool")]
    Bool,
}

impl DType {
    /// Every element type, widest first within floats, then integers, then bool.
    pub const ALL: [Self; 8] =
        [Self::F64, Self::F32, Self::F16, Self::BF16, Self::I64, Self::I32, Self::I8, Self::Bool];

    /// Bytes of one element.
    pub const fn size(self) -> usize {
        match self {
            Self::F64 | Self::I64 => 8,
            Self::F32 | Self::I32 => 4,
            Self::F16 | Self::BF16 => 2,
            Self::I8 | Self::Bool => 1,
        }
    }

    pub const fn is_float(self) -> bool {
        matches!(self, Self::F64 | Self::F32 | Self::F16 | Self::BF16)
    }

    /// PyTorch's name without the `torch.` prefix.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F64 => "float64",
            Self::F32 => "float32",
            Self::F16 => "float16",
            Self::BF16 => "bfloat16",
            Self::I64 => "int64",
            Self::I32 => "int32",
            Self::I8 => "int8",
            Self::Bool => "bool",
        }
    }

    /// The type's name in CUDA C++, as a template argument is spelled.
    pub const fn cuda_name(self) -> &'static str {
        match self {
            Self::F64 => "double",
            Self::F32 => "float",
            Self::F16 => "__half",
            Self::BF16 => "__nv_bfloat16",
            Self::I64 => "long long",
            Self::I32 => "int",
            Self::I8 => "signed char",
            Self::Bool => "bool",
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A word that names no element type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown dtype '{0}'; known: float64 float32 float16 bfloat16 int64 int32 int8 bool")]
pub struct ParseDTypeError(pub String);

impl FromStr for DType {
    type Err = ParseDTypeError;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|dtype| dtype.name() == s).ok_or_else(|| ParseDTypeError(s.to_owned()))
    }
}
