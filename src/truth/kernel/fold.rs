//! Reductions: pairwise over fixed blocks, so that the error of an f32 sum grows with the logarithm of its length
//! and the result does not depend on the number of threads.

use rayon::prelude::*;

use super::CHUNK;
use crate::truth::element::Element;
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

/// Folds the middle axis of `x[outer, len, inner]` into `[outer, inner]` (written with `shape`); `len` may be 0.
pub(crate) fn fold<T: Element>(
    op: &'static str,
    x: &[T],
    [outer, len, inner]: [usize; 3],
    shape: &[usize],
    init: T,
    combine: impl Fn(T, T) -> T + Sync + Copy,
) -> Result<Storage> {
    let mut storage = Storage::scratch(op, T::DTYPE, shape)?;
    let out = storage.slice_mut::<T>();
    debug_assert_eq!(out.len(), outer * inner);
    if len == 0 || out.is_empty() {
        out.fill(init);
    } else if inner == 1 {
        let rows = (CHUNK / len).max(1);
        let fold_rows = |(out, x): (&mut [T], &[T])| {
            for (out, row) in out.iter_mut().zip(x.chunks_exact(len)) {
                *out = fold_slice(row, init, combine);
            }
        };
        if outer <= rows {
            fold_rows((out, x));
        } else {
            out.par_chunks_mut(rows).zip(x.par_chunks(rows * len)).for_each(fold_rows);
        }
    } else {
        // One task: some columns of one `outer` index, or several whole indices.
        let width = if inner > COLUMN_BLOCK { COLUMN_BLOCK } else { inner };
        let task = |index: usize, out: &mut [T]| {
            for (nth, out) in out.chunks_mut(width).enumerate() {
                let columns = inner.div_ceil(width);
                let (at, column) = ((index + nth) / columns, (index + nth) % columns * width);
                fold_columns(&x[at * len * inner + column..], len, inner, out, combine);
            }
        };
        if inner > COLUMN_BLOCK {
            let wide = out.par_chunks_mut(inner).enumerate();
            let columns = inner.div_ceil(width);
            wide.for_each(|(at, out)| {
                out.par_chunks_mut(width).enumerate().for_each(|(nth, out)| task(at * columns + nth, out));
            });
        } else {
            let group = (CHUNK / (len * inner)).max(1);
            let groups = out.par_chunks_mut(group * inner).enumerate();
            groups.for_each(|(index, out)| task(index * group, out));
        }
    }
    Ok(storage)
}

/// Folds a slice: lanes within a block, a balanced tree over blocks.
fn fold_slice<T: Element>(x: &[T], init: T, combine: impl Fn(T, T) -> T + Sync + Copy) -> T {
    if x.len() <= BLOCK {
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
        return lanes[0];
    }
    let (left, right) = x.split_at((x.len() / 2).next_multiple_of(BLOCK));
    if x.len() > 4 * CHUNK {
        let (left, right) = rayon::join(|| fold_slice(left, init, combine), || fold_slice(right, init, combine));
        combine(left, right)
    } else {
        combine(fold_slice(left, init, combine), fold_slice(right, init, combine))
    }
}

/// Folds `rows` rows, `stride` apart, of as many columns as `out` has.
fn fold_columns<T: Element>(
    x: &[T],
    rows: usize,
    stride: usize,
    out: &mut [T],
    combine: impl Fn(T, T) -> T + Sync + Copy,
) {
    if rows <= ROW_BLOCK {
        out.copy_from_slice(&x[..out.len()]);
        for row in 1..rows {
            for (out, &value) in out.iter_mut().zip(&x[row * stride..]) {
                *out = combine(*out, value);
            }
        }
        return;
    }
    let half = (rows / 2).next_multiple_of(ROW_BLOCK);
    let mut right = out.to_vec();
    let below = &x[half * stride..];
    if rows * out.len() > 4 * CHUNK {
        rayon::join(
            || fold_columns(x, half, stride, out, combine),
            || fold_columns(below, rows - half, stride, &mut right, combine),
        );
    } else {
        fold_columns(x, half, stride, out, combine);
        fold_columns(below, rows - half, stride, &mut right, combine);
    }
    for (out, value) in out.iter_mut().zip(right) {
        *out = combine(*out, value);
    }
}
