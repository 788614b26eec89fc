//! Batched matrix products through the `gemm` crate.

use rayon::prelude::*;

use crate::truth::element::{Element, Real};

/// Rows of one task. Fixed, so that sums do not depend on the number of threads.
const PANEL: usize = 128;

/// A stack of matrices inside a slice: `offsets[b] + row * row_stride + column * column_stride`.
pub(crate) struct Matrix<'a, T> {
    pub(crate) data: &'a [T],
    pub(crate) offsets: &'a [usize],
    pub(crate) row_stride: usize,
    pub(crate) column_stride: usize,
}

impl<T> Matrix<'_, T> {
    fn covers(&self, batch: usize, rows: usize, columns: usize) -> bool {
        let last = (rows - 1) * self.row_stride + (columns - 1) * self.column_stride;
        self.offsets[batch] + last < self.data.len()
    }
}

/// `out[b] = a[b] @ b[b]`, `a` m×k, `b` k×n, `out` contiguous m×n for every batch.
pub(crate) fn batched_gemm<T: Element + Real>(out: &mut [T], a: &Matrix<T>, b: &Matrix<T>, [m, n, k]: [usize; 3]) {
    if k == 0 {
        out.fill(T::ZERO);
    }
    if out.is_empty() || k == 0 {
        return;
    }
    let panels = m.div_ceil(PANEL);
    let task = |batch: usize, out: &mut [T], first_row: usize| {
        let rows = out.len() / n;
        assert!(a.covers(batch, first_row + rows, k) && b.covers(batch, k, n));
        let a_data = &a.data[a.offsets[batch] + first_row * a.row_stride..];
        let b_data = &b.data[b.offsets[batch]..];
        // SAFETY: `out` holds rows × n elements with strides (n, 1); the assertion above shows that the last element
        // read of `a` (rows × k) and of `b` (k × n) lies inside their slices, and all strides are non-negative.
        unsafe {
            gemm::gemm(
                rows,
                n,
                k,
                out.as_mut_ptr(),
                1,
                n as isize,
                false,
                a_data.as_ptr(),
                a.column_stride as isize,
                a.row_stride as isize,
                b_data.as_ptr(),
                b.column_stride as isize,
                b.row_stride as isize,
                T::ZERO,
                T::ONE,
                false,
                false,
                false,
                gemm::Parallelism::None,
            );
        }
    };
    let one = |(batch, out): (usize, &mut [T])| {
        if panels == 1 {
            task(batch, out, 0);
        } else {
            let parts = out.par_chunks_mut(PANEL * n).enumerate();
            parts.for_each(|(panel, out)| task(batch, out, panel * PANEL));
        }
    };
    // Small products are cheaper than waking threads for each.
    let group = (1 << 16) / (m * n * k).max(1) + 1;
    if out.len() <= group * m * n {
        out.chunks_mut(m * n).enumerate().for_each(one);
    } else {
        let groups = out.par_chunks_mut(group * m * n).enumerate();
        groups.for_each(|(index, out)| {
            out.chunks_mut(m * n).enumerate().for_each(|(nth, out)| one((index * group + nth, out)));
        });
    }
}
