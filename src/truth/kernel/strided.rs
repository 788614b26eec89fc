//! Copies out of, and additions into, strided parts of a tensor: the loops behind every shape op.

use super::fill;
use crate::truth::element::{Compute, Element, with_element, with_width};
use crate::truth::error::Result;
use crate::truth::tensor::Tensor;

/// Row-major strides, in elements.
pub(crate) fn row_major(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![1; shape.len()];
    for dim in (1..shape.len()).rev() {
        strides[dim - 1] = strides[dim] * shape[dim] as isize;
    }
    strides
}

/// A part of a tensor: `shape` elements, `strides` apart, from `offset`.
struct Walk {
    dims: Vec<(usize, isize)>,
    inner: (usize, isize),
    offset: isize,
}

impl Walk {
    fn new(shape: &[usize], strides: &[isize], offset: usize) -> Self {
        let mut dims: Vec<(usize, isize)> = Vec::with_capacity(shape.len());
        for (&extent, &stride) in shape.iter().zip(strides).rev() {
            match dims.last_mut() {
                _ if extent == 1 => {}
                Some((inner, step)) if stride == *inner as isize * *step => *inner *= extent,
                _ => dims.push((extent, stride)),
            }
        }
        dims.reverse();
        let inner = dims.pop().unwrap_or((1, 1));
        Self { dims, inner, offset: offset as isize }
    }

    /// Calls `visit(position, length, offset of the first element)` for the runs of elements `start .. start + length`.
    fn runs(&self, start: usize, length: usize, visit: &mut dyn FnMut(usize, usize, usize)) {
        let mut done = 0;
        while done < length {
            let at = start + done;
            let (mut row, column) = (at / self.inner.0, at % self.inner.0);
            let run = (self.inner.0 - column).min(length - done);
            let mut offset = self.offset + column as isize * self.inner.1;
            for (extent, stride) in self.dims.iter().rev() {
                offset += (row % extent) as isize * stride;
                row /= extent;
            }
            visit(done, run, offset as usize);
            done += run;
        }
    }
}

/// The part as a new contiguous tensor.
pub(crate) fn copy_strided(
    op: &'static str,
    x: &Tensor,
    shape: &[usize],
    strides: &[isize],
    offset: usize,
) -> Result<Tensor> {
    let walk = Walk::new(shape, strides, offset);
    with_width!(x.dtype(), T => {
        let data = x.raw::<T>();
        fill::<T>(op, x.dtype(), shape, &|start, out| {
            walk.runs(start, out.len(), &mut |at, run, offset| {
                let out = &mut out[at..at + run];
                match walk.inner.1 {
                    1 => out.copy_from_slice(&data[offset..offset + run]),
                    0 => out.fill(data[offset]),
                    stride => {
                        for (i, out) in out.iter_mut().enumerate() {
                            *out = data[offset.wrapping_add_signed(i as isize * stride)];
                        }
                    }
                }
            });
        })
    })
}

/// Adds `part` (contiguous) into the strided part of `full` in place, element by element in order.
pub(crate) fn add_strided(full: &mut Tensor, part: &Tensor, strides: &[isize], offset: usize) -> Result<()> {
    let walk = Walk::new(part.shape(), strides, offset);
    with_element!(full.dtype(), T => {
        let source = part.slice::<T>();
        let target = full.make_mut()?.slice_mut::<T>();
        walk.runs(0, source.len(), &mut |at, run, offset| {
            for (i, &value) in source[at..at + run].iter().enumerate() {
                let target = &mut target[offset.wrapping_add_signed(i as isize * walk.inner.1)];
                *target = T::store(target.load().plus(value.load()));
            }
        });
    });
    Ok(())
}
