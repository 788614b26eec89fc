//! Conversions between element types.

use crate::model::DType;
use crate::truth::element::with_compute;
use crate::truth::error::Result;
use crate::truth::kernel::map;
use crate::truth::tape::record_unary;
use crate::truth::tensor::Tensor;

impl Tensor {
    /// The elements rounded (to nearest even) or truncated (float to integer) to `dtype`; `x != 0` for bool.
    pub fn to_dtype(&self, dtype: DType) -> Result<Self> {
        if dtype == self.dtype() {
            return Ok(self.clone());
        }
        let converted = with_compute!(self.dtype(), C => map::<C>("to", self, dtype, |x| x)?);
        if !dtype.is_float() || !self.dtype().is_float() {
            return Ok(converted);
        }
        Ok(record_unary("to", self, converted, |_| move |g: Tensor, sink| sink.add(0, g)))
    }

    /// float16 and bfloat16 become float32; every other dtype stays.
    pub fn upcast(&self) -> Result<Self> {
        match self.dtype() {
            DType::F16 | DType::BF16 => self.to_dtype(DType::F32),
            _ => Ok(self.clone()),
        }
    }

    /// Runs `op` in float32 for the half types and rounds its result once; other dtypes run as they are.
    pub(super) fn in_compute_dtype(&self, op: impl FnOnce(&Self) -> Result<Self>) -> Result<Self> {
        match self.dtype() {
            dtype @ (DType::F16 | DType::BF16) => op(&self.upcast()?)?.to_dtype(dtype),
            _ => op(self),
        }
    }
}
