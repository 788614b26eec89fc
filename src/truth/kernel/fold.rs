//! Reductions: pairwise over fixed blocks, so that the error of an f32 sum grows with the logarithm of its length
//! and the result does not depend on the number of threads.

use rayon::prelude::*;

use super::CHUNK;
use crate::truth::element::Compute;
use crate::truth::error::Result;
use crate::truth::storage::Storage;

/// Independent partial results per block; lets the compiler use vector registers.
const LANES: usize = 16;
/// Elements that are folded lane by lane before the pairwise tree takes over.
const BLOCK: usize = 512;
/// Rows that are folded in order before the pairwise tree takes over.
const ROW_BLOCK: usize = 16;
/// Columns of one task.
const COLUMN_BLOCK: usize = 1024;

/// The loops of one reduction, as trait objects: one copy of the tree and of its parallel machinery serves them all.
struct Folder<'a, T> {
    init: T,
    /// Folds at most [`BLOCK`] elements.
    block: &'a (dyn Fn(&[T]) -> T + Sync),
    /// Folds a row into a row.
    row: &'a (dyn Fn(&mut [T], &[T]) + Sync),
    pair: &'a (dyn Fn(T, T) -> T + Sync),
}

/// Folds the middle axis of `x[outer, len, inner]` into `[outer, inner]` (written with `shape`); `len` may be 0.
pub(crate) fn fold<T: Compute>(
    op: &'static str,
    x: &[T],
    extents: [usize; 3],
    shape: &[usize],
    init: T,
    combine: impl Fn(T, T) -> T + Sync + Copy,
) -> Result<Storage> {
    let mut storage = Storage::scratch(op, T::DTYPE, shape)?;
    let folder = Folder {
        init,
        block: &|x| fold_block(x, init, combine),
        row: &|out, x| out.iter_mut().zip(x).for_each(|(out, &value)| *out = combine(*out, value)),
        pair: &combine,
    };
    folder.fold_axis(x, extents, storage.slice_mut::<T>());
    Ok(storage)
}

fn fold_block<T: Compute>(x: &[T], init: T, combine: impl Fn(T, T) -> T) -> T {
    let mut lanes = [init; LANES];
    let (whole, rest) = x.as_chunks::<LANES>();
    for chunk in whole {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane = combine(*lane, value);
        }
    }
    for (lane, &value) in lanes.iter_mut().zip(rest) {
        *lane = combine(*lane, value);
    }
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] = combine(lanes[lane], lanes[lane + width]);
        }
        width /= 2;
    }
    lanes[0]
}

impl<T: Compute> Folder<'_, T> {
    fn fold_axis(&self, x: &[T], [outer, len, inner]: [usize; 3], out: &mut [T]) {
        debug_assert_eq!(out.len(), outer * inner);
        if len == 0 || out.is_empty() {
            out.fill(self.init);
        } else if inner == 1 {
            let rows = (CHUNK / len).max(1);
            let fold_rows = |(out, x): (&mut [T], &[T])| {
                out.iter_mut().zip(x.chunks_exact(len)).for_each(|(out, row)| *out = self.fold_slice(row));
            };
            if outer <= rows {
                fold_rows((out, x));
            } else {
                out.par_chunks_mut(rows).zip(x.par_chunks(rows * len)).for_each(fold_rows);
            }
        } else if inner > COLUMN_BLOCK {
            out.par_chunks_mut(inner).zip(x.par_chunks(len * inner)).for_each(|(out, plane)| {
                let blocks = out.par_chunks_mut(COLUMN_BLOCK).enumerate();
                blocks.for_each(|(block, out)| self.fold_columns(&plane[block * COLUMN_BLOCK..], len, inner, out));
            });
        } else {
            let planes = (CHUNK / (len * inner)).max(1);
            let fold_planes = |(out, x): (&mut [T], &[T])| {
                let pairs = out.chunks_mut(inner).zip(x.chunks(len * inner));
                pairs.for_each(|(out, plane)| self.fold_columns(plane, len, inner, out));
            };
            if outer <= planes {
                fold_planes((out, x));
            } else {
                out.par_chunks_mut(planes * inner).zip(x.par_chunks(planes * len * inner)).for_each(fold_planes);
            }
        }
    }

    /// Lanes within a block, a balanced tree over blocks.
    fn fold_slice(&self, x: &[T]) -> T {
        if x.len() <= BLOCK {
            return (self.block)(x);
        }
        let (left, right) = x.split_at((x.len() / 2).next_multiple_of(BLOCK));
        let (left, right) = if x.len() > 4 * CHUNK {
            rayon::join(|| self.fold_slice(left), || self.fold_slice(right))
        } else {
            (self.fold_slice(left), self.fold_slice(right))
        };
        (self.pair)(left, right)
    }

    /// Folds `rows` rows, `stride` apart, of as many columns as `out` has.
    fn fold_columns(&self, x: &[T], rows: usize, stride: usize, out: &mut [T]) {
        if rows <= ROW_BLOCK {
            let width = out.len();
            out.copy_from_slice(&x[..width]);
            (1..rows).for_each(|row| (self.row)(out, &x[row * stride..][..width]));
            return;
        }
        let half = (rows / 2).next_multiple_of(ROW_BLOCK);
        let mut right = out.to_vec();
        let below = &x[half * stride..];
        if rows * out.len() > 4 * CHUNK {
            rayon::join(
                || self.fold_columns(x, half, stride, out),
                || self.fold_columns(below, rows - half, stride, &mut right),
            );
        } else {
            self.fold_columns(x, half, stride, out);
            self.fold_columns(below, rows - half, stride, &mut right);
        }
        (self.row)(out, &right);
    }
}
