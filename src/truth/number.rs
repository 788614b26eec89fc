//! Scalars beside tensors, and the dtype that an op of several operands computes in.

use super::tensor::Tensor;
use crate::model::DType;

/// A scalar operand. It takes part in promotion by its category only, as a Python number does in PyTorch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Bool(bool),
    Int(i64),
    Float(f64),
}

impl Number {
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Bool(value) => f64::from(u8::from(value)),
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    /// Floats are truncated towards zero, as a C cast does.
    pub fn as_i64(self) -> i64 {
        match self {
            Self::Bool(value) => i64::from(value),
            Self::Int(value) => value,
            Self::Float(value) => value as i64,
        }
    }

    /// The dtype that a tensor made of this number alone has.
    pub fn dtype(self) -> DType {
        match self {
            Self::Bool(_) => DType::Bool,
            Self::Int(_) => DType::I64,
            Self::Float(_) => DType::F32,
        }
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}
impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}
impl From<bool> for Number {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

/// A tensor or a scalar, so that `x.mul(2.0)` and `x.mul(&y)` are one op.
#[derive(Clone, Debug)]
pub enum Operand {
    Tensor(Tensor),
    Number(Number),
}

impl From<&Tensor> for Operand {
    fn from(value: &Tensor) -> Self {
        Self::Tensor(value.clone())
    }
}
impl From<Tensor> for Operand {
    fn from(value: Tensor) -> Self {
        Self::Tensor(value)
    }
}
impl<N: Into<Number>> From<N> for Operand {
    fn from(value: N) -> Self {
        Self::Number(value.into())
    }
}

impl Operand {
    pub(crate) fn tensor(&self) -> Option<&Tensor> {
        match self {
            Self::Tensor(tensor) => Some(tensor),
            Self::Number(_) => None,
        }
    }
}

/// `torch.promote_types`: the smallest dtype that both convert to.
pub fn promote_types(a: DType, b: DType) -> DType {
    let rank = |dtype: DType| match dtype {
        DType::Bool => 0,
        DType::I8 => 1,
        DType::I32 => 2,
        DType::I64 => 3,
        DType::F16 | DType::BF16 => 4,
        DType::F32 => 5,
        DType::F64 => 6,
    };
    match (a, b) {
        (DType::F16, DType::BF16) | (DType::BF16, DType::F16) => DType::F32,
        _ if rank(a) >= rank(b) => a,
        _ => b,
    }
}

/// `torch.result_type`: tensors with dims outrank rank-0 tensors, which outrank scalars; a lower class matters only
/// if its category (bool < integer < float) is higher.
pub(crate) fn result_type<'a>(operands: impl IntoIterator<Item = &'a Operand>) -> DType {
    let mut classes: [Option<DType>; 3] = [None; 3];
    for operand in operands {
        let (class, dtype) = match operand {
            Operand::Tensor(tensor) => (usize::from(tensor.shape().is_empty()), tensor.dtype()),
            Operand::Number(number) => (2, number.dtype()),
        };
        classes[class] = Some(classes[class].map_or(dtype, |seen| promote_types(seen, dtype)));
    }
    let category = |dtype: DType| match dtype {
        DType::Bool => 0,
        _ if dtype.is_float() => 2,
        _ => 1,
    };
    let merge = |high: Option<DType>, low: Option<DType>| match (high, low) {
        (Some(high), Some(low)) if category(low) > category(high) => Some(promote_types(high, low)),
        (high, low) => high.or(low),
    };
    merge(merge(classes[0], classes[1]), classes[2]).unwrap_or(DType::F32)
}
