//! Broadcasting: which operand elements meet at each output element.

use crate::truth::error::{Error, Result};

/// The broadcast of two shapes by PyTorch's rule.
pub(crate) fn broadcast_shape(op: &'static str, a: &[usize], b: &[usize]) -> Result<Vec<usize>> {
    let rank = a.len().max(b.len());
    let extent = |shape: &[usize], dim: usize| (dim + shape.len()).checked_sub(rank).map_or(1, |at| shape[at]);
    (0..rank)
        .map(|dim| match (extent(a, dim), extent(b, dim)) {
            (x, y) if x == y => Ok(x),
            (1, y) => Ok(y),
            (x, 1) => Ok(x),
            (x, y) => {
                let message =
                    format!("shapes {a:?} and {b:?} do not broadcast: extents {x} and {y} differ at dim {dim}");
                Err(Error::misuse(op, message))
            }
        })
        .collect()
}

/// How `N` operands are walked to fill an output: adjacent dims merged where every operand allows it.
pub(crate) struct Broadcast<const N: usize> {
    pub(crate) shape: Vec<usize>,
    /// Extent and operand strides, outermost first, never empty. Strides of the last are 0 or 1.
    dims: Vec<(usize, [usize; N])>,
}

impl<const N: usize> Broadcast<N> {
    pub(crate) fn new(op: &'static str, shapes: [&[usize]; N]) -> Result<Self> {
        let mut shape = shapes[0].to_vec();
        if shapes.iter().all(|other| *other == shapes[0]) {
            let numel = shape.iter().product();
            return Ok(Self { shape, dims: vec![(numel, [1; N])] });
        }
        for other in &shapes[1..] {
            shape = broadcast_shape(op, &shape, other)?;
        }
        let mut dims: Vec<(usize, [usize; N])> = Vec::with_capacity(shape.len());
        let mut steps = [1; N];
        for dim in (0..shape.len()).rev() {
            let mut strides = [0; N];
            for (operand, own) in shapes.iter().enumerate() {
                let extent = (dim + own.len()).checked_sub(shape.len()).map_or(1, |at| own[at]);
                if extent != 1 {
                    strides[operand] = steps[operand];
                    steps[operand] *= extent;
                }
            }
            match dims.last_mut() {
                _ if shape[dim] == 1 => {}
                Some((inner, held)) if (0..N).all(|i| strides[i] == *inner * held[i]) => *inner *= shape[dim],
                _ => dims.push((shape[dim], strides)),
            }
        }
        if dims.is_empty() {
            dims.push((1, [1; N]));
        }
        dims.reverse();
        Ok(Self { shape, dims })
    }

    /// Calls `visit(position, length, operand offsets, operand strides)` for the runs of output elements
    /// `start .. start + length`, positions counted from `start`.
    pub(crate) fn runs(
        &self,
        start: usize,
        length: usize,
        visit: &mut dyn FnMut(usize, usize, [usize; N], [usize; N]),
    ) {
        let Some((&(inner, strides), outer)) = self.dims.split_last() else { return };
        let mut done = 0;
        while done < length {
            let at = start + done;
            let (mut row, column) = (at / inner, at % inner);
            let run = (inner - column).min(length - done);
            let mut offsets = strides.map(|stride| stride * column);
            for (extent, steps) in outer.iter().rev() {
                let index = row % extent;
                row /= extent;
                for operand in 0..N {
                    offsets[operand] += index * steps[operand];
                }
            }
            visit(done, run, offsets, strides);
            done += run;
        }
    }
}
