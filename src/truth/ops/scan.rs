//! Running sums and products along a dim.

use super::reduce::split_at_dim;
use super::shape::normalize_dim;
use crate::model::DType;
use crate::truth::element::{Compute, with_compute};
use crate::truth::error::Result;
use crate::truth::storage::Storage;
use crate::truth::tape::record;
use crate::truth::tensor::Tensor;

use rayon::prelude::*;

impl Tensor {
    /// Running sum along a dim; integers and bool sum to int64.
    pub fn cumsum(&self, dim: isize) -> Result<Self> {
        let dim = normalize_dim("cumsum", dim, self.ndim())?;
        let source = if self.dtype().is_float() { self.clone() } else { self.to_dtype(DType::I64)? };
        source.in_compute_dtype(|x| {
            let y = x.running_sum(dim, false)?;
            Ok(record("cumsum", &[x], y, |_| move |g: Self, sink| sink.add(0, g.running_sum(dim, true)?)))
        })
    }

    /// Running sum from the front or, `reversed`, from the back; off the tape.
    fn running_sum(&self, dim: usize, reversed: bool) -> Result<Self> {
        if self.ndim() == 0 || self.numel() == 0 {
            return Ok(self.detach());
        }
        let [_, len, inner] = split_at_dim(self.shape(), dim);
        let mut storage = Storage::scratch("cumsum", self.dtype(), self.shape())?;
        with_compute!(self.dtype(), T => {
            let plane = len * inner;
            let pairs = storage.slice_mut::<T>().par_chunks_mut(plane).zip(self.slice::<T>().par_chunks(plane));
            pairs.for_each(|(out, x)| {
                out.copy_from_slice(x);
                for step in 1..len {
                    let (from, to) = if reversed { (len - step, len - step - 1) } else { (step - 1, step) };
                    for column in 0..inner {
                        let sum = out[from * inner + column].plus(x[to * inner + column]);
                        out[to * inner + column] = sum;
                    }
                }
            });
        });
        Ok(Self::new(storage, self.shape().to_vec()))
    }
}
