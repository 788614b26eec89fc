//! Softmax and its relatives, shifted by the largest element so that nothing overflows.

use super::shape::{normalize_dim, normalize_dims, reduced_shape};
use crate::model::DType;
use crate::truth::error::Result;
use crate::truth::tape::record;
use crate::truth::tensor::Tensor;

impl Tensor {
    /// `exp(x) / sum(exp(x))` along a dim, computed in `dtype` if given.
    pub fn softmax(&self, dim: isize, dtype: Option<DType>) -> Result<Self> {
        let source = self.to_dtype(dtype.unwrap_or(self.dtype()))?;
        source.refuse_integers("softmax")?;
        let dim = normalize_dim("softmax", dim, self.ndim())? as isize;
        source.in_compute_dtype(|x| {
            if x.numel() == 0 || x.ndim() == 0 {
                return x.sub(x.detach())?.exp();
            }
            let data = x.detach();
            let weight = data.sub(&data.amax(&[dim], true)?)?.exp()?;
            let y = weight.div(&weight.sum(&[dim], true)?)?;
            Ok(record("softmax", &[x], y, |y| {
                let y = y.clone();
                move |g: Self, sink| {
                    let weighted = g.mul(&y)?;
                    let total = weighted.sum(&[dim], true)?;
                    sink.add(0, weighted.sub(&y.mul(&total)?)?)
                }
            }))
        })
    }

    /// `log(softmax(x))` along a dim, computed in `dtype` if given.
    pub fn log_softmax(&self, dim: isize, dtype: Option<DType>) -> Result<Self> {
        let source = self.to_dtype(dtype.unwrap_or(self.dtype()))?;
        source.refuse_integers("log_softmax")?;
        let dim = normalize_dim("log_softmax", dim, self.ndim())? as isize;
        source.in_compute_dtype(|x| {
            if x.numel() == 0 || x.ndim() == 0 {
                return x.sub(x.detach());
            }
            let data = x.detach();
            let shifted = data.sub(&data.amax(&[dim], true)?)?;
            let y = shifted.sub(&shifted.exp()?.sum(&[dim], true)?.log()?)?;
            Ok(record("log_softmax", &[x], y, |y| {
                let y = y.clone();
                move |g: Self, sink| sink.add(0, g.sub(&y.exp()?.mul(&g.sum(&[dim], true)?)?)?)
            }))
        })
    }

    /// `log(sum(exp(x)))` over dims.
    pub fn logsumexp(&self, dims: &[isize], keepdim: bool) -> Result<Self> {
        let source = if self.dtype().is_float() { self.clone() } else { self.to_dtype(DType::F32)? };
        source.in_compute_dtype(|x| {
            let reduced = normalize_dims("logsumexp", dims, x.ndim())?;
            let data = x.detach();
            let empty = reduced.iter().any(|&dim| x.shape()[dim] == 0);
            let kept = if empty {
                data.exp()?.sum(dims, true)?.log()?
            } else {
                // An infinite shift would turn inf - inf into NaN.
                let most = data.amax(dims, true)?;
                let shift = most.masked_fill(&most.isinf()?, 0.0)?;
                data.sub(&shift)?.exp()?.sum(dims, true)?.log()?.add(&shift)?
            };
            let y = kept.with_shape(reduced_shape(kept.shape(), &reduced, keepdim));
            Ok(record("logsumexp", &[x], y, |_| {
                move |g: Self, sink| {
                    let g = g.with_shape(kept.shape().to_vec());
                    sink.add(0, data.sub(&kept)?.exp()?.mul(&g)?)
                }
            }))
        })
    }
}
