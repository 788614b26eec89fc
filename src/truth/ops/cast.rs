//! Conversions between element types.

use crate::model::DType;
use crate::truth::element::{Compute, Element, with_any, with_float, with_int};
use crate::truth::error::Result;
use crate::truth::kernel::map;
use crate::truth::tape::record;
use crate::truth::tensor::Tensor;

impl Tensor {
    /// The elements rounded (to nearest even) or truncated (float to integer) to `dtype`; `x != 0` for bool.
    pub fn to_dtype(&self, dtype: DType) -> Result<Self> {
        if dtype == self.dtype() {
            return Ok(self.clone());
        }
        let source = self.dtype();
        let converted = match (source.is_float(), dtype.is_float()) {
            (_, false) if dtype == DType::Bool => {
                with_any!(source, T => map::<T, u8>("to", self, |x| i64::from(x.to_f64() != 0.0)))
            }
            // f64 <-> f32 computes in the wider type; every other pair goes through f32 or a narrower type exactly.
            (true, true) => with_float!(source, T => with_float!(dtype, U => {
                map::<T, U>("to", self, |x| <U as Element>::Compute::from_f64(x.to_f64()))
            })),
            (true, false) => with_float!(source, T => with_int!(dtype, U => map::<T, U>("to", self, |x| x.to_i64()))),
            (false, true) => with_int!(source, T => with_float!(dtype, U => {
                map::<T, U>("to", self, |x| <U as Element>::Compute::from_i64(x))
            })),
            (false, false) => with_int!(source, T => with_int!(dtype, U => map::<T, U>("to", self, |x| x))),
        }?;
        if !dtype.is_float() || !source.is_float() {
            return Ok(converted);
        }
        Ok(record("to", &[self], converted, |_| move |g: Tensor, sink| sink.add(0, g)))
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
