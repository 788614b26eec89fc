//! Joining, splitting, repeating and padding.

use super::reduce::split_at_dim;
use super::shape::normalize_dim;
use crate::truth::error::{Error, Result};
use crate::truth::number::{Number, Operand, result_type};
use crate::truth::storage::Storage;
use crate::truth::tape::record;
use crate::truth::tensor::Tensor;

impl Tensor {
    /// Tensors joined along an existing dim; other extents must agree.
    pub fn cat(tensors: &[Self], dim: isize) -> Result<Self> {
        let Some(first) = tensors.first() else {
            return Err(Error::misuse("cat", "expected at least one tensor"));
        };
        if first.ndim() == 0 {
            return Err(Error::misuse("cat", "rank-0 tensors cannot be joined; use stack"));
        }
        let at = normalize_dim("cat", dim, first.ndim())?;
        let mut shape = first.shape().to_vec();
        shape[at] = 0;
        for (index, tensor) in tensors.iter().enumerate() {
            let agrees = tensor.ndim() == first.ndim()
                && (0..first.ndim()).all(|dim| dim == at || tensor.shape()[dim] == first.shape()[dim]);
            if !agrees {
                let (own, expected) = (tensor.shape(), first.shape());
                let message =
                    format!("tensor {index} has shape {own:?}, tensor 0 {expected:?}; only dim {at} may differ");
                return Err(Error::misuse("cat", message));
            }
            shape[at] += tensor.shape()[at];
        }
        let operands: Vec<Operand> = tensors.iter().map(Operand::from).collect();
        let dtype = result_type(&operands);
        let parts = tensors.iter().map(|tensor| tensor.to_dtype(dtype)).collect::<Result<Vec<_>>>()?;
        let mut storage = Storage::scratch("cat", dtype, &shape)?;
        let [outer, total, inner] = split_at_dim(&shape, at);
        let size = dtype.size();
        let row = total * inner * size;
        let mut start = 0;
        for part in &parts {
            let width = part.shape()[at] * inner * size;
            let (source, target) = (part.as_bytes(), storage.bytes_mut());
            for index in 0..outer {
                target[index * row + start..][..width].copy_from_slice(&source[index * width..][..width]);
            }
            start += width;
        }
        let y = Self::new(storage, shape);
        let inputs: Vec<&Self> = parts.iter().collect();
        Ok(record("cat", &inputs, y, |_| {
            let extents: Vec<usize> = parts.iter().map(|part| part.shape()[at]).collect();
            move |g: Self, sink| {
                let mut start = 0;
                for (index, extent) in extents.into_iter().enumerate() {
                    if sink.wants(index) {
                        sink.add(index, g.narrow(at as isize, start as isize, extent)?)?;
                    }
                    start += extent;
                }
                Ok(())
            }
        }))
    }

    /// Tensors of one shape joined along a new dim.
    pub fn stack(tensors: &[Self], dim: isize) -> Result<Self> {
        let Some(first) = tensors.first() else {
            return Err(Error::misuse("stack", "expected at least one tensor"));
        };
        if let Some(at) = tensors.iter().position(|tensor| tensor.shape() != first.shape()) {
            let message = format!("tensor {at} has shape {:?}, tensor 0 {:?}", tensors[at].shape(), first.shape());
            return Err(Error::misuse("stack", message));
        }
        let at = normalize_dim("stack", dim, first.ndim() + 1)? as isize;
        let parts = tensors.iter().map(|tensor| tensor.unsqueeze(at)).collect::<Result<Vec<_>>>()?;
        Self::cat(&parts, at)
    }

    /// Consecutive parts of `size` along a dim; the last may be smaller.
    pub fn split(&self, size: usize, dim: isize) -> Result<Vec<Self>> {
        let extent = self.extent("split", dim)?;
        if size == 0 {
            return Err(Error::misuse("split", "the part size must be at least 1"));
        }
        let starts = (0..extent.max(1)).step_by(size);
        starts.map(|start| self.narrow(dim, start as isize, size.min(extent - start))).collect()
    }

    /// Consecutive parts of the given sizes along a dim, which they must fill.
    pub fn split_sizes(&self, sizes: &[usize], dim: isize) -> Result<Vec<Self>> {
        let extent = self.extent("split", dim)?;
        if sizes.iter().sum::<usize>() != extent {
            let message = format!("sizes {sizes:?} do not add up to dim {dim} of extent {extent}");
            return Err(Error::misuse("split", message));
        }
        let mut start = 0;
        let part = |&size: &usize| {
            start += size;
            self.narrow(dim, (start - size) as isize, size)
        };
        sizes.iter().map(part).collect()
    }

    /// At most `chunks` parts of equal size (the last may be smaller) along a dim.
    pub fn chunk(&self, chunks: usize, dim: isize) -> Result<Vec<Self>> {
        let extent = self.extent("chunk", dim)?;
        if chunks == 0 {
            return Err(Error::misuse("chunk", "the number of chunks must be at least 1"));
        }
        self.split(extent.div_ceil(chunks).max(1), dim)
    }

    /// The elements of a dim, one tensor each, without that dim.
    pub fn unbind(&self, dim: isize) -> Result<Vec<Self>> {
        let extent = self.extent("unbind", dim)?;
        (0..extent).map(|index| self.select(dim, index as isize)).collect()
    }

    /// Extent of a dim.
    pub fn extent(&self, op: &'static str, dim: isize) -> Result<usize> {
        let at = normalize_dim(op, dim, self.ndim())?;
        self.shape().get(at).copied().ok_or_else(|| Error::misuse(op, "a rank-0 tensor has no dims"))
    }

    /// The whole tensor repeated along each dim; extra repeats make new dims in front.
    pub fn repeat(&self, repeats: &[usize]) -> Result<Self> {
        let Some(lead) = repeats.len().checked_sub(self.ndim()) else {
            let message = format!("{} repeats for {} dims", repeats.len(), self.ndim());
            return Err(Error::misuse("repeat", message));
        };
        let extents = [vec![1; lead], self.shape().to_vec()].concat();
        let interleaved = |pairs: &dyn Fn(usize) -> [usize; 2]| (0..repeats.len()).flat_map(pairs).collect::<Vec<_>>();
        let spread = self.reshape_to(interleaved(&|dim| [1, extents[dim]]))?;
        let full = spread.broadcast_to(&interleaved(&|dim| [repeats[dim], extents[dim]]))?;
        full.reshape_to((0..repeats.len()).map(|dim| repeats[dim] * extents[dim]).collect())
    }

    /// Each element repeated `repeats` times in a row along a dim; without a dim, of the flattened tensor.
    pub fn repeat_interleave(&self, repeats: usize, dim: Option<isize>) -> Result<Self> {
        let Some(dim) = dim else {
            return self.reshape_to(vec![self.numel()])?.repeat_interleave(repeats, Some(0));
        };
        let extent = self.extent("repeat_interleave", dim)?;
        let at = normalize_dim("repeat_interleave", dim, self.ndim())?;
        let mut spread = self.shape().to_vec();
        spread.insert(at + 1, 1);
        let mut full = spread.clone();
        full[at + 1] = repeats;
        let mut shape = self.shape().to_vec();
        shape[at] = extent * repeats;
        self.reshape_to(spread)?.broadcast_to(&full)?.reshape_to(shape)
    }

    /// `value` around the tensor: (before, after) of the last dim, then of the one before it, …, as
    /// `torch.nn.functional.pad`; negative amounts cut.
    pub fn pad(&self, amounts: &[isize], value: impl Into<Number>) -> Result<Self> {
        if !amounts.len().is_multiple_of(2) || amounts.len() / 2 > self.ndim() {
            let message = format!("{amounts:?} are not (before, after) pairs for at most {} dims", self.ndim());
            return Err(Error::misuse("pad", message));
        }
        let value = value.into();
        let mut y = self.clone();
        for (nth, pair) in amounts.chunks_exact(2).enumerate() {
            let dim = self.ndim() - 1 - nth;
            let (cut_before, cut_after) = ((-pair[0]).max(0), (-pair[1]).max(0));
            let left = self.shape()[dim] as isize - cut_before - cut_after;
            if left < 0 {
                let message = format!("{pair:?} cuts more than dim {dim} of extent {}", self.shape()[dim]);
                return Err(Error::misuse("pad", message));
            }
            let inside = y.narrow(dim as isize, cut_before, left as usize)?;
            let margin = |amount: isize| {
                let mut shape = inside.shape().to_vec();
                shape[dim] = amount.max(0) as usize;
                Self::full(&shape, value, Some(self.dtype()))
            };
            y = match (pair[0].max(0), pair[1].max(0)) {
                (0, 0) => inside,
                (before, after) => Self::cat(&[margin(before)?, inside.clone(), margin(after)?], dim as isize)?,
            };
        }
        Ok(y)
    }
}
