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
/// Columns of one task, at most.
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

/// What is folded: elements, or their products with as many factors.
#[derive(Clone, Copy)]
struct Terms<'a, T> {
    x: &'a [T],
    factor: Option<&'a [T]>,
}

impl<'a, T: Compute> Terms<'a, T> {
    fn part(self, start: usize, len: usize) -> Self {
        Self { x: &self.x[start..][..len], factor: self.factor.map(|factor| &factor[start..][..len]) }
    }

    fn from(self, start: usize) -> Self {
        self.part(start, self.x.len() - start)
    }

    /// The terms themselves; products are written to `buffer`, which holds at least as many.
    fn values<'b>(self, buffer: &'b mut [T]) -> &'b [T]
    where
        'a: 'b,
    {
        let Some(factor) = self.factor else { return self.x };
        let out = &mut buffer[..self.x.len()];
        out.iter_mut().zip(self.x.iter().zip(factor)).for_each(|(out, (&x, &factor))| *out = x.times(factor));
        out
    }
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
    fold_terms(op, Terms { x, factor: None }, extents, shape, init, combine)
}

/// Sums the middle axis of `x * factor`, both `[outer, len, inner]`.
pub(crate) fn fold_product<T: Compute>(
    op: &'static str,
    x: &[T],
    factor: &[T],
    extents: [usize; 3],
    shape: &[usize],
) -> Result<Storage> {
    fold_terms(op, Terms { x, factor: Some(factor) }, extents, shape, T::ZERO, T::plus)
}

fn fold_terms<T: Compute>(
    op: &'static str,
    terms: Terms<'_, T>,
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
    folder.fold_axis(terms, extents, storage.slice_mut::<T>());
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
    fn fold_axis(&self, terms: Terms<T>, [outer, len, inner]: [usize; 3], out: &mut [T]) {
        debug_assert_eq!(out.len(), outer * inner);
        let plane = len * inner;
        if len == 0 || out.is_empty() {
            out.fill(self.init);
        } else if inner > COLUMN_BLOCK {
            out.par_chunks_mut(inner).enumerate().for_each(|(at, out)| {
                let terms = terms.part(at * plane, plane);
                let blocks = out.par_chunks_mut(COLUMN_BLOCK).enumerate();
                blocks.for_each(|(block, out)| self.fold_columns(terms.from(block * COLUMN_BLOCK), len, inner, out));
            });
        } else {
            // Several planes per task.
            let planes = (CHUNK / plane).max(1);
            let task = |(nth, out): (usize, &mut [T])| {
                for (at, out) in out.chunks_mut(inner).enumerate() {
                    let terms = terms.part((nth * planes + at) * plane, plane);
                    match out {
                        [out] => *out = self.fold_slice(terms),
                        out => self.fold_columns(terms, len, inner, out),
                    }
                }
            };
            if outer <= planes {
                task((0, out));
            } else {
                out.par_chunks_mut(planes * inner).enumerate().for_each(task);
            }
        }
    }

    /// Lanes within a block, a balanced tree over blocks.
    fn fold_slice(&self, terms: Terms<T>) -> T {
        let len = terms.x.len();
        if len <= BLOCK {
            return match terms.factor {
                None => (self.block)(terms.x),
                Some(_) => (self.block)(terms.values(&mut [T::ZERO; BLOCK])),
            };
        }
        let half = (len / 2).next_multiple_of(BLOCK);
        let (left, right) = (terms.part(0, half), terms.from(half));
        let (left, right) = if len > 4 * CHUNK {
            rayon::join(|| self.fold_slice(left), || self.fold_slice(right))
        } else {
            (self.fold_slice(left), self.fold_slice(right))
        };
        (self.pair)(left, right)
    }

    /// Folds `rows` rows, `stride` apart, of as many columns as `out` has.
    fn fold_columns(&self, terms: Terms<T>, rows: usize, stride: usize, out: &mut [T]) {
        let width = out.len();
        if rows <= ROW_BLOCK {
            let mut buffer = if terms.factor.is_some() { vec![T::ZERO; width] } else { Vec::new() };
            out.copy_from_slice(terms.part(0, width).values(&mut buffer));
            (1..rows).for_each(|row| (self.row)(out, terms.part(row * stride, width).values(&mut buffer)));
            return;
        }
        let half = (rows / 2).next_multiple_of(ROW_BLOCK);
        let mut right = out.to_vec();
        let below = terms.from(half * stride);
        if rows * width > 4 * CHUNK {
            rayon::join(
                || self.fold_columns(terms, half, stride, out),
                || self.fold_columns(below, rows - half, stride, &mut right),
            );
        } else {
            self.fold_columns(terms, half, stride, out);
            self.fold_columns(below, rows - half, stride, &mut right);
        }
        (self.row)(out, &right);
    }
}
