//! Sums and the moments built on them. An empty list of dims means all dims, as in PyTorch.

use super::shape::{normalize_dims, reduced_shape};
use crate::model::DType;
use crate::truth::element::{Compute, with_real};
use crate::truth::error::{Error, Result};
use crate::truth::kernel::{add_assign, fold, fold_product};
use crate::truth::tape::record;
use crate::truth::tensor::Tensor;

/// Folds the given (sorted) dims of a tensor that is stored as it is computed, keeping them with extent 1.
pub(super) fn fold_dims<T: Compute>(
    op: &'static str,
    x: &Tensor,
    dims: &[usize],
    init: T,
    combine: impl Fn(T, T) -> T + Sync + Copy,
) -> Result<Tensor> {
    let mut current = x.detach();
    for run in dims.chunk_by(|a, b| a + 1 == *b).rev() {
        let (first, last) = (run[0], run[run.len() - 1]);
        let mut shape = current.shape().to_vec();
        let outer = shape[..first].iter().product();
        let len = shape[first..=last].iter().product();
        let inner = shape[last + 1..].iter().product();
        shape[first..=last].fill(1);
        let storage = fold(op, current.slice::<T>(), [outer, len, inner], &shape, init, combine)?;
        current = Tensor::new(storage, shape);
    }
    Ok(current)
}

/// Sum over (sorted) dims that are kept, without the tape; half types round once.
pub(super) fn sum_kept(op: &'static str, x: &Tensor, dims: &[usize]) -> Result<Tensor> {
    match x.dtype() {
        DType::F64 => fold_dims::<f64>(op, x, dims, 0.0, f64::plus),
        DType::F32 => fold_dims::<f32>(op, x, dims, 0.0, f32::plus),
        dtype @ (DType::F16 | DType::BF16) => {
            fold_dims::<f32>(op, &x.detach().to_dtype(DType::F32)?, dims, 0.0, f32::plus)?.to_dtype(dtype)
        }
        _ => fold_dims::<i64>(op, &x.to_dtype(DType::I64)?, dims, 0, i64::plus),
    }
}

impl Tensor {
    /// Sum over dims; integers and bool sum to int64.
    pub fn sum(&self, dims: &[isize], keepdim: bool) -> Result<Self> {
        let dims = normalize_dims("sum", dims, self.ndim())?;
        let kept = sum_kept("sum", self, &dims)?;
        let kept_shape = kept.shape().to_vec();
        let y = kept.with_shape(reduced_shape(&kept_shape, &dims, keepdim));
        Ok(record("sum", &[self], y, |_| move |g: Self, sink| sink.add(0, g.with_shape(kept_shape))))
    }

    /// Mean over dims; floats only.
    pub fn mean(&self, dims: &[isize], keepdim: bool) -> Result<Self> {
        self.refuse_integers("mean")?;
        self.in_compute_dtype(|x| {
            let sum = x.sum(dims, keepdim)?;
            let count = x.numel() as f64 / sum.numel() as f64;
            sum.div(if x.numel() == 0 { 0.0 } else { count })
        })
    }

    /// Sums a gradient of a broadcast operand back to the operand's shape.
    pub(crate) fn sum_to(&self, shape: &[usize]) -> Result<Self> {
        if self.shape() == shape {
            return Ok(self.clone());
        }
        let dims = self.grown_dims(shape);
        if dims.is_empty() {
            return Ok(self.clone());
        }
        let kept = sum_kept("sum", self, &dims)?;
        let lead = kept.ndim() - shape.len();
        let own = kept.shape()[lead..].to_vec();
        Ok(kept.with_shape(own))
    }

    /// Variance over dims: squared deviations over `n - correction` (PyTorch's default correction is 1).
    pub fn var(&self, dims: &[isize], correction: f64, keepdim: bool) -> Result<Self> {
        self.refuse_integers("var")?;
        self.in_compute_dtype(|x| {
            let kept = normalize_dims("var", dims, x.ndim())?;
            let data = x.detach();
            let deviation = data.sub(&data.mean(dims, true)?)?;
            let count: usize = kept.iter().map(|&dim| x.shape()[dim]).product();
            let freedom = (count as f64 - correction).max(0.0);
            let total = deviation.square()?.sum(dims, true)?.div(freedom)?;
            let kept_shape = total.shape().to_vec();
            let y = total.with_shape(reduced_shape(&kept_shape, &kept, keepdim));
            Ok(record("var", &[x], y, |_| {
                move |g: Self, sink| sink.add(0, deviation.mul(&g.with_shape(kept_shape).mul(2.0 / freedom)?)?)
            }))
        })
    }

    /// Standard deviation over dims; its gradient is 0 where it is 0.
    pub fn std(&self, dims: &[isize], correction: f64, keepdim: bool) -> Result<Self> {
        self.in_compute_dtype(|x| x.var(dims, correction, keepdim)?.sqrt_with_zero_gradient_at_zero())
    }

    /// The `p`-norm of each group of elements over dims (`torch.linalg.vector_norm`); gradient 0 at norm 0.
    pub fn norm(&self, p: f64, dims: &[isize], keepdim: bool) -> Result<Self> {
        self.refuse_integers("norm")?;
        self.in_compute_dtype(|x| {
            if p == 2.0 {
                x.square()?.sum(dims, keepdim)?.sqrt_with_zero_gradient_at_zero()
            } else if p == f64::INFINITY {
                x.abs()?.amax(dims, keepdim)
            } else if p == f64::NEG_INFINITY {
                x.abs()?.amin(dims, keepdim)
            } else if p == 0.0 {
                x.ne(0.0)?.to_dtype(x.dtype())?.sum(dims, keepdim)
            } else if p == 1.0 {
                x.abs()?.sum(dims, keepdim)
            } else {
                x.abs()?.pow(p)?.sum(dims, keepdim)?.pow(1.0 / p)
            }
        })
    }

    fn sqrt_with_zero_gradient_at_zero(&self) -> Result<Self> {
        let y = self.detach().sqrt()?;
        Ok(record("sqrt", &[self], y, |y| {
            let y = y.clone();
            move |g: Self, sink| sink.add(0, g.div(&y.mul(2.0)?)?.masked_fill(&y.eq(0.0)?, 0.0)?)
        }))
    }

    /// Whether any element over dims is non-zero.
    pub fn any(&self, dims: &[isize], keepdim: bool) -> Result<Self> {
        self.fold_bool("any", dims, keepdim, 0, |a, b| a | b)
    }

    /// Whether all elements over dims are non-zero.
    pub fn all(&self, dims: &[isize], keepdim: bool) -> Result<Self> {
        self.fold_bool("all", dims, keepdim, 1, |a, b| a & b)
    }

    fn fold_bool(
        &self,
        op: &'static str,
        dims: &[isize],
        keepdim: bool,
        init: i64,
        combine: impl Fn(i64, i64) -> i64 + Sync + Copy,
    ) -> Result<Self> {
        let dims = normalize_dims(op, dims, self.ndim())?;
        let bits = self.to_dtype(DType::Bool)?.to_dtype(DType::I64)?;
        let kept = fold_dims::<i64>(op, &bits, &dims, init, combine)?;
        let shape = reduced_shape(kept.shape(), &dims, keepdim);
        kept.with_shape(shape).to_dtype(DType::Bool)
    }

    /// `(self * factor).sum_to(shape)` in one pass, where both are stored as they are computed and alike in shape and
    /// one run of dims is summed; None otherwise.
    pub(crate) fn product_sum_to(&self, factor: &Self, shape: &[usize]) -> Result<Option<Self>> {
        let alike = self.shape() == factor.shape() && self.dtype() == factor.dtype();
        if !alike || self.shape() == shape || !matches!(self.dtype(), DType::F64 | DType::F32) {
            return Ok(None);
        }
        let dims = self.grown_dims(shape);
        let (Some(&first), Some(&last)) = (dims.first(), dims.last()) else { return Ok(None) };
        if last - first + 1 != dims.len() {
            return Ok(None);
        }
        let extent = |range: std::ops::Range<usize>| self.shape()[range].iter().product::<usize>();
        let extents = [extent(0..first), extent(first..last + 1), extent(last + 1..self.ndim())];
        let storage = with_real!(self.dtype(), C => {
            fold_product("sum", self.slice::<C>(), factor.slice::<C>(), extents, shape)?
        });
        Ok(Some(Self::new(storage, shape.to_vec())))
    }

    /// Dims that broadcasting made or grew from `shape` to this tensor's.
    fn grown_dims(&self, shape: &[usize]) -> Vec<usize> {
        let lead = self.ndim() - shape.len();
        let grown = |dim: usize| dim < lead || shape[dim - lead] == 1 && self.shape()[dim] != 1;
        (0..self.ndim()).filter(|&dim| grown(dim)).collect()
    }

    pub(super) fn refuse_integers(&self, op: &'static str) -> Result<()> {
        if self.dtype().is_float() {
            return Ok(());
        }
        Err(Error::misuse(op, format!("expected floats, got {}; convert with to(\"float32\")", self.describe())))
    }

    /// Adds `other`, in place where this is the only owner of its storage.
    pub(crate) fn accumulate(&mut self, other: &Self) -> Result<()> {
        let alike = self.shape() == other.shape() && self.dtype() == other.dtype();
        if !alike || !matches!(self.dtype(), DType::F64 | DType::F32) || !self.is_unique() {
            *self = self.add(other)?;
            return Ok(());
        }
        with_real!(self.dtype(), C => add_assign(self.make_mut()?.slice_mut::<C>(), other.slice::<C>()));
        Ok(())
    }
}
