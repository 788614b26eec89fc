//! Comparisons and logic; results are bool and off the tape.

use super::binary::Pair;
use crate::model::DType;
use crate::truth::element::{Compute, with_compute, with_element};
use crate::truth::error::Result;
use crate::truth::kernel::map;
use crate::truth::number::{Number, Operand, result_type};
use crate::truth::tensor::Tensor;

macro_rules! comparisons {
    ($($(#[$doc:meta])* $name:ident $text:literal $op:tt;)*) => {
        impl Tensor {
            $($(#[$doc])*
            pub fn $name(&self, other: impl Into<Operand>) -> Result<Self> {
                let pair = Pair::promote($text, self.into(), other.into(), false)?;
                with_compute!(pair.dtype, C => pair.run::<C>($text, DType::Bool, |a, b| C::from_i64(i64::from(a $op b))))
            })*
        }
    };
}

comparisons! {
    /// Elementwise `x == other`; NaN equals nothing.
    eq "eq" ==;
    /// Elementwise `x != other`.
    ne "ne" !=;
    /// Elementwise `x < other`.
    lt "lt" <;
    /// Elementwise `x <= other`.
    le "le" <=;
    /// Elementwise `x > other`.
    gt "gt" >;
    /// Elementwise `x >= other`.
    ge "ge" >=;
}

macro_rules! logic {
    ($($(#[$doc:meta])* $name:ident $text:literal $op:tt;)*) => {
        impl Tensor {
            $($(#[$doc])*
            pub fn $name(&self, other: impl Into<Operand>) -> Result<Self> {
                let other = match other.into() {
                    Operand::Tensor(tensor) => Operand::Tensor(tensor.to_dtype(DType::Bool)?),
                    Operand::Number(number) => Operand::Number(Number::Bool(number.as_f64() != 0.0)),
                };
                let pair = Pair::promote($text, self.to_dtype(DType::Bool)?.into(), other, false)?;
                pair.run::<i64>($text, DType::Bool, |a, b| i64::from((a != 0) $op (b != 0)))
            })*
        }
    };
}

logic! {
    /// Whether both are non-zero.
    logical_and "logical_and" &;
    /// Whether either is non-zero.
    logical_or "logical_or" |;
    /// Whether exactly one is non-zero.
    logical_xor "logical_xor" ^;
}

impl Tensor {
    /// Whether each element is zero.
    pub fn logical_not(&self) -> Result<Self> {
        map::<i64>("logical_not", &self.to_dtype(DType::Bool)?, DType::Bool, |x| i64::from(x == 0))
    }

    /// Whether shape, dtype and every element are equal (`torch.equal`; NaN equals nothing).
    pub fn equal(&self, other: &Self) -> bool {
        let alike = self.shape() == other.shape() && self.dtype() == other.dtype();
        alike && with_element!(self.dtype(), T => self.slice::<T>() == other.slice::<T>())
    }

    /// `|x - other| <= atol + rtol * |other|` everywhere, equal infinities included (`torch.allclose`).
    pub fn allclose(&self, other: &Self, rtol: f64, atol: f64) -> Result<bool> {
        let dtype = result_type([&self.into(), &other.into()]);
        let to_f64 = |x: &Self| x.detach().to_dtype(dtype)?.to_dtype(DType::F64);
        let pair = Pair { a: to_f64(self)?.into(), b: to_f64(other)?.into(), dtype: DType::F64 };
        let close = pair.run::<f64>("allclose", DType::Bool, |a, b| {
            f64::from(u8::from(a == b || (a - b).abs() <= atol + rtol * b.abs() && b.is_finite()))
        })?;
        Ok(close.slice::<u8>().iter().all(|&close| close != 0))
    }
}
