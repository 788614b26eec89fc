//! An op's signature at one case: what a candidate is called with and what it must return. No data.

use serde::{Deserialize, Serialize};

use super::{DType, Scalar};

/// Name, element type and extents of a (contiguous, row-major) tensor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensorMeta {
    pub name: String,
    pub dtype: DType,
    pub shape: Vec<u64>,
}

impl TensorMeta {
    pub fn numel(&self) -> u64 {
        self.shape.iter().product()
    }

    pub fn bytes(&self) -> u64 {
        self.numel() * self.dtype.size() as u64
    }
}

/// One argument, in signature order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Argument {
    Tensor(TensorMeta),
    /// An optional tensor that this case leaves out; the candidate gets nil.
    Absent {
        name: String,
    },
    Scalar {
        name: String,
        value: Scalar,
    },
}

/// What the candidate's forward takes and gives, and which inputs need a gradient.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    pub op: String,
    pub args: Vec<Argument>,
    /// Outputs in order; dtype and shape as the reference gives them at this case.
    pub outputs: Vec<TensorMeta>,
    /// Names of the tensor arguments whose gradient is required (same shape and dtype as the argument).
    pub grads: Vec<String>,
}
