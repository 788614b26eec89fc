//! Extrema, products and positions over dims.

use super::shape::{normalize_dim, normalize_dims, reduced_shape};
use super::sum::fold_dims;
use crate::model::DType;
use crate::truth::element::{Compute, compute_dtype, with_compute, with_real};
use crate::truth::error::{Error, Result};
use crate::truth::kernel::fill;
use crate::truth::tape::record;
use crate::truth::tensor::Tensor;

/// Extents before, at and after a dim.
pub(super) fn split_at_dim(shape: &[usize], dim: usize) -> [usize; 3] {
    [shape[..dim].iter().product(), shape[dim], shape[dim + 1..].iter().product()]
}

fn beats<const LARGEST: bool, C: Compute>(a: C, b: C) -> bool {
    if LARGEST { a > b } else { a < b }
}

impl Tensor {
    /// Largest element over dims; NaN if any is NaN; ties share the gradient evenly.
    pub fn amax(&self, dims: &[isize], keepdim: bool) -> Result<Self> {
        self.extremum_over::<true>("amax", dims, keepdim)
    }

    /// Smallest element over dims; NaN if any is NaN; ties share the gradient evenly.
    pub fn amin(&self, dims: &[isize], keepdim: bool) -> Result<Self> {
        self.extremum_over::<false>("amin", dims, keepdim)
    }

    fn extremum_over<const LARGEST: bool>(&self, op: &'static str, dims: &[isize], keepdim: bool) -> Result<Self> {
        let dims = normalize_dims(op, dims, self.ndim())?;
        if let Some(&dim) = dims.iter().find(|&&dim| self.shape()[dim] == 0) {
            return Err(Error::misuse(op, format!("dim {dim} of {} is empty", self.describe())));
        }
        let wide = self.detach().to_dtype(compute_dtype(self.dtype()))?;
        let kept = with_compute!(self.dtype(), C => {
            let worst = if LARGEST { C::LEAST } else { C::MOST };
            fold_dims::<C>(op, &wide, &dims, worst, |a, b| if beats::<LARGEST, _>(a, b) || a.is_nan() { a } else { b })?
        });
        let kept = kept.to_dtype(self.dtype())?;
        let y = kept.with_shape(reduced_shape(kept.shape(), &dims, keepdim));
        Ok(record(op, &[self], y, |_| {
            let x = self.detach();
            move |g: Self, sink| {
                let mask = x.eq(&kept)?.to_dtype(g.dtype())?;
                let signed: Vec<isize> = dims.iter().map(|&dim| dim as isize).collect();
                let count = if dims.is_empty() { mask.clone() } else { mask.sum(&signed, true)? };
                sink.add(0, mask.mul(g.with_shape(kept.shape().to_vec()))?.div(&count)?)
            }
        }))
    }

    /// Largest element along a dim and its first position (int64). The gradient goes to that position.
    pub fn max_dim(&self, dim: isize, keepdim: bool) -> Result<(Self, Self)> {
        self.pick::<true>("max", dim, keepdim)
    }

    /// Smallest element along a dim and its first position (int64). The gradient goes to that position.
    pub fn min_dim(&self, dim: isize, keepdim: bool) -> Result<(Self, Self)> {
        self.pick::<false>("min", dim, keepdim)
    }

    fn pick<const LARGEST: bool>(&self, op: &'static str, dim: isize, keepdim: bool) -> Result<(Self, Self)> {
        let at = normalize_dim(op, dim, self.ndim())?;
        let source = if self.ndim() == 0 { self.reshape(&[1])? } else { self.clone() };
        let index = source.position::<LARGEST>(op, at)?;
        let values = source.gather(at as isize, &index)?;
        let shape = if self.ndim() == 0 { Vec::new() } else { reduced_shape(index.shape(), &[at], keepdim) };
        Ok((values.reshape_to(shape.clone())?, index.with_shape(shape)))
    }

    /// First position of the largest element along a dim, or of the flattened tensor; a NaN counts as largest.
    pub fn argmax(&self, dim: Option<isize>, keepdim: bool) -> Result<Self> {
        self.position_over::<true>("argmax", dim, keepdim)
    }

    /// First position of the smallest element along a dim, or of the flattened tensor; a NaN counts as smallest.
    pub fn argmin(&self, dim: Option<isize>, keepdim: bool) -> Result<Self> {
        self.position_over::<false>("argmin", dim, keepdim)
    }

    fn position_over<const LARGEST: bool>(&self, op: &'static str, dim: Option<isize>, keepdim: bool) -> Result<Self> {
        let Some(dim) = dim else {
            let shape = if keepdim { vec![1; self.ndim()] } else { Vec::new() };
            return Ok(self.with_shape(vec![self.numel()]).position::<LARGEST>(op, 0)?.with_shape(shape));
        };
        let at = normalize_dim(op, dim, self.ndim())?;
        if self.ndim() == 0 {
            return Self::zeros(&[], DType::I64);
        }
        let index = self.position::<LARGEST>(op, at)?;
        let shape = reduced_shape(index.shape(), &[at], keepdim);
        Ok(index.with_shape(shape))
    }

    /// int64 positions along `dim`, which is kept.
    fn position<const LARGEST: bool>(&self, op: &'static str, dim: usize) -> Result<Self> {
        let [_, len, inner] = split_at_dim(self.shape(), dim);
        if len == 0 {
            return Err(Error::misuse(op, format!("dim {dim} of {} is empty", self.describe())));
        }
        let mut shape = self.shape().to_vec();
        shape[dim] = 1;
        let wide = self.detach().to_dtype(compute_dtype(self.dtype()))?;
        with_compute!(self.dtype(), C => {
            let x = wide.slice::<C>();
            fill::<i64>(op, DType::I64, &shape, &|start, out| {
                for (nth, out) in out.iter_mut().enumerate() {
                    let (outer, column) = ((start + nth) / inner, (start + nth) % inner);
                    let at = |i: usize| x[(outer * len + i) * inner + column];
                    let mut best = 0;
                    for i in 1..len {
                        let (new, old) = (at(i), at(best));
                        if !old.is_nan() && (new.is_nan() || beats::<LARGEST, _>(new, old)) {
                            best = i;
                        }
                    }
                    *out = best as i64;
                }
            })
        })
    }

    /// Product along a dim, or of all elements; integers multiply to int64.
    pub fn prod(&self, dim: Option<isize>, keepdim: bool) -> Result<Self> {
        let source = if self.dtype().is_float() { self.clone() } else { self.to_dtype(DType::I64)? };
        source.in_compute_dtype(|x| {
            let dims: Vec<isize> = dim.into_iter().collect();
            let dims = normalize_dims("prod", &dims, x.ndim())?;
            let kept = match x.dtype() {
                DType::F64 => fold_dims::<f64>("prod", x, &dims, 1.0, f64::times)?,
                DType::F32 => fold_dims::<f32>("prod", x, &dims, 1.0, f32::times)?,
                _ => fold_dims::<i64>("prod", x, &dims, 1, i64::times)?,
            };
            let y = kept.with_shape(reduced_shape(kept.shape(), &dims, keepdim));
            Ok(record("prod", &[x], y, |_| {
                let (x, kept_shape) = (x.detach(), kept.shape().to_vec());
                move |g: Self, sink| {
                    let others = match dims[..] {
                        [dim] => x.product_of_others(split_at_dim(x.shape(), dim))?,
                        _ => x.product_of_others([1, x.numel(), 1])?,
                    };
                    sink.add(0, others.mul(g.with_shape(kept_shape))?)
                }
            }))
        })
    }

    /// For each element the product of the others along the middle axis, by prefix and suffix products, so that zeros
    /// need no special case.
    fn product_of_others(&self, [outer, len, inner]: [usize; 3]) -> Result<Self> {
        let mut y = Self::ones(self.shape(), self.dtype())?;
        with_real!(self.dtype(), C => {
            let x = self.slice::<C>();
            let out = y.make_mut()?.slice_mut::<C>();
            for column in (0..outer).flat_map(|at| (0..inner).map(move |i| at * len * inner + i)) {
                let (mut prefix, mut suffix): (C, C) = (1.0, 1.0);
                for i in 0..len {
                    let (low, high) = (column + i * inner, column + (len - 1 - i) * inner);
                    out[low] *= prefix;
                    out[high] *= suffix;
                    prefix *= x[low];
                    suffix *= x[high];
                }
            }
        });
        Ok(y)
    }
}
