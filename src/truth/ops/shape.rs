//! Shape ops that keep every element: reshapes share storage, permutations copy.

use crate::truth::error::{Error, Result};
use crate::truth::kernel::{copy_strided, row_major};
use crate::truth::tape::record;
use crate::truth::tensor::Tensor;

/// A dim in `-rank .. rank` as a position; rank 0 accepts 0 and -1.
pub(super) fn normalize_dim(op: &'static str, dim: isize, rank: usize) -> Result<usize> {
    let span = rank.max(1) as isize;
    if dim < -span || dim >= span {
        return Err(Error::misuse(op, format!("dim {dim} is out of range [{}, {}]", -span, span - 1)));
    }
    Ok(dim.rem_euclid(span) as usize)
}

/// Sorted positions of distinct dims; an empty list means all of them.
pub(super) fn normalize_dims(op: &'static str, dims: &[isize], rank: usize) -> Result<Vec<usize>> {
    let mut found = Vec::with_capacity(dims.len());
    for &dim in dims {
        found.push(normalize_dim(op, dim, rank)?);
    }
    found.sort_unstable();
    if let Some(twice) = found.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Error::misuse(op, format!("dim {} appears twice in {dims:?}", twice[0])));
    }
    if rank == 0 || dims.is_empty() {
        found = (0..rank).collect();
    }
    Ok(found)
}

/// The shape of a reduction whose reduced dims were kept as 1.
pub(super) fn reduced_shape(kept: &[usize], dims: &[usize], keepdim: bool) -> Vec<usize> {
    if keepdim {
        return kept.to_vec();
    }
    kept.iter().enumerate().filter(|(dim, _)| !dims.contains(dim)).map(|(_, &extent)| extent).collect()
}

impl Tensor {
    /// The same elements under a shape of as many; one extent may be -1.
    pub fn reshape(&self, shape: &[isize]) -> Result<Self> {
        let fault = |why: &str| Error::misuse("reshape", format!("{:?} to {shape:?}: {why}", self.shape()));
        let mut known = 1usize;
        let mut open = None;
        for (dim, &extent) in shape.iter().enumerate() {
            match extent {
                -1 if open.is_some() => return Err(fault("only one extent may be -1")),
                -1 => open = Some(dim),
                0.. => known = known.saturating_mul(extent as usize),
                _ => return Err(fault("extents are at least 0, or -1 once")),
            }
        }
        let mut resolved: Vec<usize> = shape.iter().map(|&extent| extent.max(0) as usize).collect();
        if let Some(dim) = open {
            if known == 0 || !self.numel().is_multiple_of(known) {
                return Err(fault(&format!("{} elements do not fill the open extent", self.numel())));
            }
            resolved[dim] = self.numel() / known;
        } else if known != self.numel() {
            return Err(fault(&format!("{} elements are not {known}", self.numel())));
        }
        self.reshape_to(resolved)
    }

    /// As [`Tensor::reshape`] for a shape that is known to fit.
    pub(super) fn reshape_to(&self, shape: Vec<usize>) -> Result<Self> {
        let y = self.with_shape(shape);
        let own = || self.shape().to_vec();
        Ok(record("reshape", &[self], y, |_| {
            let shape = own();
            move |g: Self, sink| sink.add(0, g.with_shape(shape))
        }))
    }

    /// Dims `start ..= end` as one.
    pub fn flatten(&self, start: isize, end: isize) -> Result<Self> {
        let (first, last) =
            (normalize_dim("flatten", start, self.ndim())?, normalize_dim("flatten", end, self.ndim())?);
        if first > last {
            return Err(Error::misuse("flatten", format!("start dim {start} comes after end dim {end}")));
        }
        let mut shape = self.shape().to_vec();
        if shape.is_empty() {
            return self.reshape_to(vec![1]);
        }
        let merged = shape[first..=last].iter().product();
        shape.splice(first..=last, [merged]);
        self.reshape_to(shape)
    }

    /// One dim as several; one of `sizes` may be -1.
    pub fn unflatten(&self, dim: isize, sizes: &[isize]) -> Result<Self> {
        let at = normalize_dim("unflatten", dim, self.ndim())?;
        let Some(&extent) = self.shape().get(at) else {
            return Err(Error::misuse("unflatten", "a rank-0 tensor has no dim to unflatten"));
        };
        let known: isize = sizes.iter().filter(|&&size| size != -1).product();
        let open = sizes.contains(&-1);
        let fits = if open { known > 0 && extent as isize % known == 0 } else { known == extent as isize };
        if !fits || sizes.is_empty() {
            return Err(Error::misuse("unflatten", format!("sizes {sizes:?} do not make up dim {dim} of {extent}")));
        }
        let mut shape: Vec<isize> = self.shape().iter().map(|&extent| extent as isize).collect();
        shape.splice(at..=at, sizes.iter().copied());
        self.reshape(&shape)
    }

    /// Dims in the order given.
    pub fn permute(&self, dims: &[isize]) -> Result<Self> {
        let order =
            dims.iter().map(|&dim| normalize_dim("permute", dim, self.ndim())).collect::<Result<Vec<usize>>>()?;
        let mut sorted = order.clone();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(0..self.ndim()) {
            let message = format!("{dims:?} does not name each of the {} dims of {:?} once", self.ndim(), self.shape());
            return Err(Error::misuse("permute", message));
        }
        self.permute_by(&order)
    }

    pub(super) fn permute_by(&self, order: &[usize]) -> Result<Self> {
        if order.iter().copied().eq(0..self.ndim()) {
            return Ok(self.clone());
        }
        let strides = row_major(self.shape());
        let shape: Vec<usize> = order.iter().map(|&dim| self.shape()[dim]).collect();
        let strides: Vec<isize> = order.iter().map(|&dim| strides[dim]).collect();
        let y = copy_strided("permute", self, &shape, &strides, 0)?;
        Ok(record("permute", &[self], y, |_| {
            let mut inverse = vec![0; order.len()];
            order.iter().enumerate().for_each(|(to, &from)| inverse[from] = to);
            move |g: Self, sink| sink.add(0, g.permute_by(&inverse)?)
        }))
    }

    /// Two dims swapped.
    pub fn transpose(&self, a: isize, b: isize) -> Result<Self> {
        let (a, b) = (normalize_dim("transpose", a, self.ndim())?, normalize_dim("transpose", b, self.ndim())?);
        if self.ndim() == 0 {
            return Ok(self.clone());
        }
        let mut order: Vec<usize> = (0..self.ndim()).collect();
        order.swap(a, b);
        self.permute_by(&order)
    }

    /// The last two dims swapped.
    pub fn matrix_transpose(&self) -> Result<Self> {
        if self.ndim() < 2 {
            return Err(Error::misuse("mT", format!("expected at least 2 dims, got {:?}", self.shape())));
        }
        self.transpose(-2, -1)
    }

    /// All dims in reverse order.
    pub fn reverse_dims(&self) -> Result<Self> {
        self.permute_by(&(0..self.ndim()).rev().collect::<Vec<_>>())
    }

    /// Without the given dims of extent 1 (all such dims if the list is empty); other dims named are left alone.
    pub fn squeeze(&self, dims: &[isize]) -> Result<Self> {
        let dims = normalize_dims("squeeze", dims, self.ndim())?;
        let kept = self.shape().iter().enumerate().filter(|(dim, extent)| **extent != 1 || !dims.contains(dim));
        self.reshape_to(kept.map(|(_, &extent)| extent).collect())
    }

    /// A new dim of extent 1 before position `dim`.
    pub fn unsqueeze(&self, dim: isize) -> Result<Self> {
        let at = normalize_dim("unsqueeze", dim, self.ndim() + 1)?;
        let mut shape = self.shape().to_vec();
        shape.insert(at, 1);
        self.reshape_to(shape)
    }

    /// Dims of extent 1 repeated to `shape`; -1 keeps an extent; new dims come in front.
    pub fn expand(&self, shape: &[isize]) -> Result<Self> {
        let fault = || {
            let message = format!("{:?} does not expand to {shape:?}; only extents of 1 grow", self.shape());
            Error::misuse("expand", message)
        };
        let lead = shape.len().checked_sub(self.ndim()).ok_or_else(fault)?;
        let mut target = Vec::with_capacity(shape.len());
        for (dim, &extent) in shape.iter().enumerate() {
            let own = dim.checked_sub(lead).map(|dim| self.shape()[dim]);
            target.push(match (extent, own) {
                (-1, Some(own)) => own,
                (0.., None | Some(1)) => extent as usize,
                (0.., Some(own)) if own == extent as usize => own,
                _ => return Err(fault()),
            });
        }
        self.broadcast_to(&target)
    }

    /// As [`Tensor::expand`] with every extent given.
    pub fn broadcast_to(&self, shape: &[usize]) -> Result<Self> {
        if self.shape() == shape {
            return Ok(self.clone());
        }
        let lead = shape.len().checked_sub(self.ndim());
        let fits = lead.is_some_and(|lead| {
            self.shape().iter().zip(&shape[lead..]).all(|(&own, &extent)| own == extent || own == 1)
        });
        let Some(lead) = lead.filter(|_| fits) else {
            let message = format!("{:?} does not broadcast to {shape:?}", self.shape());
            return Err(Error::misuse("broadcast_to", message));
        };
        let own = row_major(self.shape());
        let stride = |dim: usize| if dim < lead || self.shape()[dim - lead] == 1 { 0 } else { own[dim - lead] };
        let strides: Vec<isize> = (0..shape.len()).map(stride).collect();
        let y = copy_strided("expand", self, shape, &strides, 0)?;
        Ok(record("expand", &[self], y, |_| move |g: Self, sink| sink.add(0, g)))
    }
}
