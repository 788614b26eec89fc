//! Parts of a tensor along its dims. Gradients are added into the part they came from.

use super::shape::normalize_dim;
use crate::truth::error::{Error, Result};
use crate::truth::kernel::{add_strided, copy_strided, row_major};
use crate::truth::tape::record;
use crate::truth::tensor::Tensor;

impl Tensor {
    /// A strided part, distinct elements only, whose gradient is added back in place.
    fn part(&self, op: &'static str, shape: &[usize], strides: Vec<isize>, offset: usize) -> Result<Self> {
        let y = copy_strided(op, self, shape, &strides, offset)?;
        Ok(record(op, &[self], y, |_| {
            move |g: Self, sink| sink.add_part(0, |full| add_strided(full, &g, &strides, offset))
        }))
    }

    fn dim_of(&self, op: &'static str, dim: isize) -> Result<usize> {
        if self.ndim() == 0 {
            return Err(Error::misuse(op, "a rank-0 tensor has no dims to take a part of"));
        }
        normalize_dim(op, dim, self.ndim())
    }

    /// Element `index` of a dim, which disappears; negative indices count from the end.
    pub fn select(&self, dim: isize, index: isize) -> Result<Self> {
        let at = self.dim_of("select", dim)?;
        let extent = self.shape()[at] as isize;
        if index < -extent || index >= extent {
            let message = format!("index {index} is out of range for dim {dim} of extent {extent}");
            return Err(Error::misuse("select", message));
        }
        let (mut shape, mut strides) = (self.shape().to_vec(), row_major(self.shape()));
        shape.remove(at);
        let offset = index.rem_euclid(extent) * strides.remove(at);
        self.part("select", &shape, strides, offset as usize)
    }

    /// `length` elements of a dim from `start`.
    pub fn narrow(&self, dim: isize, start: isize, length: usize) -> Result<Self> {
        let at = self.dim_of("narrow", dim)?;
        let extent = self.shape()[at];
        let first = if start < 0 { start + extent as isize } else { start };
        if first < 0 || (first as usize).saturating_add(length) > extent {
            let message = format!("start {start} and length {length} leave dim {dim} of extent {extent}");
            return Err(Error::misuse("narrow", message));
        }
        if first == 0 && length == extent {
            return Ok(self.clone());
        }
        let (mut shape, strides) = (self.shape().to_vec(), row_major(self.shape()));
        shape[at] = length;
        let offset = if length == 0 { 0 } else { first as usize * strides[at] as usize };
        self.part("narrow", &shape, strides, offset)
    }

    /// Every `step`-th element of a dim in the half-open range `start .. stop`, which is cut to the extent as Python
    /// does; negative positions count from the end.
    pub fn slice_dim(&self, dim: isize, start: Option<isize>, stop: Option<isize>, step: usize) -> Result<Self> {
        let at = self.dim_of("slice", dim)?;
        if step == 0 {
            return Err(Error::misuse("slice", "the step must be at least 1"));
        }
        let extent = self.shape()[at] as isize;
        let clip =
            |position: isize| if position < 0 { position.saturating_add(extent) } else { position }.clamp(0, extent);
        let (first, end) = (clip(start.unwrap_or(0)), clip(stop.unwrap_or(extent)));
        let length = ((end - first).max(0) as usize).div_ceil(step);
        if step == 1 {
            return self.narrow(at as isize, if length == 0 { 0 } else { first }, length);
        }
        let (mut shape, mut strides) = (self.shape().to_vec(), row_major(self.shape()));
        let offset = if length == 0 { 0 } else { first as usize * strides[at] as usize };
        shape[at] = length;
        strides[at] *= step as isize;
        self.part("slice", &shape, strides, offset)
    }

    /// Dims reversed.
    pub fn flip(&self, dims: &[isize]) -> Result<Self> {
        let (mut strides, mut offset) = (row_major(self.shape()), 0);
        let mut seen = Vec::new();
        for &dim in dims {
            let at = self.dim_of("flip", dim)?;
            if seen.contains(&at) {
                return Err(Error::misuse("flip", format!("dim {dim} appears twice in {dims:?}")));
            }
            seen.push(at);
            offset += self.shape()[at].saturating_sub(1) * strides[at] as usize;
            strides[at] = -strides[at];
        }
        let y = copy_strided("flip", self, self.shape(), &strides, offset)?;
        let dims = dims.to_vec();
        Ok(record("flip", &[self], y, |_| move |g: Self, sink| sink.add(0, g.flip(&dims)?)))
    }

    /// Elements shifted by `shift` positions along a dim, wrapping around; without a dim, along the flattened tensor.
    pub fn roll(&self, shift: isize, dim: Option<isize>) -> Result<Self> {
        let Some(dim) = dim else {
            return self.reshape_to(vec![self.numel()])?.roll(shift, Some(0))?.reshape_to(self.shape().to_vec());
        };
        let at = self.dim_of("roll", dim)?;
        let extent = self.shape()[at];
        let cut = if extent == 0 { 0 } else { (-shift).rem_euclid(extent as isize) as usize };
        if cut == 0 {
            return Ok(self.clone());
        }
        let (dim, first) = (at as isize, self.narrow(at as isize, 0, cut)?);
        Self::cat(&[self.narrow(dim, cut as isize, extent - cut)?, first], dim)
    }

    /// The diagonal of two dims, `offset` above the main one, as a last dim.
    pub fn diagonal(&self, offset: isize, dim1: isize, dim2: isize) -> Result<Self> {
        let (a, b) = (self.dim_of("diagonal", dim1)?, self.dim_of("diagonal", dim2)?);
        if a == b {
            return Err(Error::misuse("diagonal", format!("dims {dim1} and {dim2} are the same")));
        }
        let strides = row_major(self.shape());
        let (skip_a, skip_b) = ((-offset).max(0) as usize, offset.max(0) as usize);
        let length = self.shape()[a].saturating_sub(skip_a).min(self.shape()[b].saturating_sub(skip_b));
        let start = if length == 0 { 0 } else { skip_a * strides[a] as usize + skip_b * strides[b] as usize };
        let others = (0..self.ndim()).filter(|&dim| dim != a && dim != b);
        let (mut shape, mut steps): (Vec<usize>, Vec<isize>) =
            others.map(|dim| (self.shape()[dim], strides[dim])).unzip();
        shape.push(length);
        steps.push(strides[a] + strides[b]);
        self.part("diagonal", &shape, steps, start)
    }

    /// Matrices whose diagonal, `offset` above the main one, is the last dim; zero elsewhere.
    pub fn diag_embed(&self, offset: isize) -> Result<Self> {
        let at = self.dim_of("diag_embed", -1)?;
        let side = self.shape()[at] + offset.unsigned_abs();
        let mut shape = self.shape().to_vec();
        shape.splice(at..=at, [side, side]);
        let mut strides = row_major(&shape);
        let (column, row) = (strides.pop().unwrap_or(1), strides.pop().unwrap_or(1));
        strides.push(row + column);
        let start = (-offset).max(0) * row + offset.max(0) * column;
        let mut y = Self::zeros(&shape, self.dtype())?;
        add_strided(&mut y, self, &strides, start as usize)?;
        Ok(record("diag_embed", &[self], y, |_| move |g: Self, sink| sink.add(0, g.diagonal(offset, -2, -1)?)))
    }
}
