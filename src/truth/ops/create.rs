//! Tensors from nothing.

use crate::model::DType;
use crate::truth::element::{with_compute, with_width};
use crate::truth::error::{Error, Result};
use crate::truth::kernel::{fill, write_elements};
use crate::truth::number::Number;
use crate::truth::ops::binary::number;
use crate::truth::storage::Storage;
use crate::truth::tensor::Tensor;

impl Tensor {
    /// Every element 0.
    pub fn zeros(shape: &[usize], dtype: DType) -> Result<Self> {
        Ok(Self::new(Storage::zeroed("zeros", dtype, shape)?, shape.to_vec()))
    }

    /// Every element 1.
    pub fn ones(shape: &[usize], dtype: DType) -> Result<Self> {
        Self::full(shape, 1i64, Some(dtype))
    }

    /// Every element `value`; without a dtype, float32, int64 or bool by the value.
    pub fn full(shape: &[usize], value: impl Into<Number>, dtype: Option<DType>) -> Result<Self> {
        let value = value.into();
        let dtype = dtype.unwrap_or(value.dtype());
        let mut element = [0u64];
        let bytes = &mut bytemuck::cast_slice_mut(&mut element)[..dtype.size()];
        with_compute!(dtype, C => write_elements::<C>(dtype, &[number(value)], bytes));
        with_width!(dtype, T => {
            let pattern: T = bytemuck::pod_read_unaligned(bytes);
            fill::<T>("full", dtype, shape, &|_, out| out.fill(pattern))
        })
    }

    /// The identity matrix, cut or padded to `rows` × `columns`.
    pub fn eye(rows: usize, columns: usize, dtype: DType) -> Result<Self> {
        let y = fill::<i64>("eye", DType::I64, &[rows, columns], &|first, out| {
            let on_diagonal = |at: usize| at / columns == at % columns;
            out.iter_mut().enumerate().for_each(|(i, out)| *out = i64::from(on_diagonal(first + i)));
        })?;
        y.to_dtype(dtype)
    }

    /// `start, start + step, …` below (above, for a negative step) `end`; without a dtype, int64 if all three numbers
    /// are integers, else float32.
    pub fn arange(
        start: impl Into<Number>,
        end: impl Into<Number>,
        step: impl Into<Number>,
        dtype: Option<DType>,
    ) -> Result<Self> {
        let (start, end, step) = (start.into(), end.into(), step.into());
        let fault = |why: &str| {
            let (start, end, step) = (start.as_f64(), end.as_f64(), step.as_f64());
            Error::misuse("arange", format!("from {start} to {end} by {step}: {why}"))
        };
        let whole = [start, end, step].iter().all(|number| !matches!(number, Number::Float(_)));
        let count = (end.as_f64() - start.as_f64()) / step.as_f64();
        if !count.is_finite() || step.as_f64() == 0.0 {
            return Err(fault("expected finite bounds and a step other than 0"));
        }
        if count < 0.0 {
            return Err(fault("the step leads away from the end"));
        }
        let dtype = dtype.unwrap_or(if whole { DType::I64 } else { DType::F32 });
        let shape = [count.ceil() as usize];
        if whole {
            let (start, step) = (start.as_i64(), step.as_i64());
            let y = fill::<i64>("arange", DType::I64, &shape, &|first, out| {
                let value = |i: usize| start.wrapping_add(((first + i) as i64).wrapping_mul(step));
                out.iter_mut().enumerate().for_each(|(i, out)| *out = value(i));
            });
            return y?.to_dtype(dtype);
        }
        let (start, step) = (start.as_f64(), step.as_f64());
        let y = fill::<f64>("arange", DType::F64, &shape, &|first, out| {
            out.iter_mut().enumerate().for_each(|(i, out)| *out = start + (first + i) as f64 * step);
        });
        y?.to_dtype(dtype)
    }

    /// `steps` values from `start` to `end`, both included, evenly spaced.
    pub fn linspace(start: f64, end: f64, steps: usize, dtype: DType) -> Result<Self> {
        let gap = (end - start) / (steps.max(2) - 1) as f64;
        // Counted from the nearer end, as PyTorch does, so that both ends are exact.
        let value = |i: usize| {
            if i < steps / 2 || steps == 1 { start + gap * i as f64 } else { end - gap * (steps - 1 - i) as f64 }
        };
        let y = fill::<f64>("linspace", DType::F64, &[steps], &|first, out| {
            out.iter_mut().enumerate().for_each(|(i, out)| *out = value(first + i));
        });
        y?.to_dtype(dtype)
    }
}
