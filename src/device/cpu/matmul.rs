//! The library product of a plan, on the `gemm` crate.

use gemm::{Parallelism, gemm};
use half::{bf16, f16};
use rayon::prelude::*;

use crate::model::DType;

/// A batched product with resolved addresses; see [`crate::model::Node::Matmul`].
pub(super) struct Product {
    pub(super) a: *const u8,
    pub(super) b: *const u8,
    pub(super) out: *mut u8,
    pub(super) dtype: DType,
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) k: usize,
    pub(super) batch: usize,
    pub(super) trans_a: bool,
    pub(super) trans_b: bool,
}

/// # Safety
/// The three ranges are mapped, of the sizes that the extents give, and `out` overlaps neither input.
pub(super) unsafe fn run(p: &Product) {
    // SAFETY: passed on.
    unsafe {
        match p.dtype {
            DType::F64 => direct::<f64>(p, 0.0, 1.0),
            DType::F32 => direct::<f32>(p, 0.0, 1.0),
            DType::F16 => by_float(p, f16::to_f32, f16::from_f32),
            DType::BF16 => by_float(p, bf16::to_f32, bf16::from_f32),
            _ => {}
        }
    }
}

/// One product of row-major matrices, transposed by strides.
unsafe fn one<T: Copy + 'static>(p: &Product, a: *const T, b: *const T, out: *mut T, zero: T, unit: T) {
    let (m, n, k) = (p.m as isize, p.n as isize, p.k as isize);
    let (a_column, a_row) = if p.trans_a { (m, 1) } else { (1, k) };
    let (b_column, b_row) = if p.trans_b { (k, 1) } else { (1, n) };
    // SAFETY: strides and extents describe the caller's ranges.
    unsafe {
        gemm(
            p.m,
            p.n,
            p.k,
            out,
            1,
            n,
            false,
            a,
            a_column,
            a_row,
            b,
            b_column,
            b_row,
            zero,
            unit,
            false,
            false,
            false,
            Parallelism::Rayon(0),
        );
    }
}

unsafe fn direct<T: Copy + 'static>(p: &Product, zero: T, unit: T) {
    let (a, b, out) = (p.a.cast::<T>(), p.b.cast::<T>(), p.out.cast::<T>());
    for i in 0..p.batch {
        // SAFETY: each matrix of the batch follows the one before.
        unsafe { one(p, a.add(i * p.m * p.k), b.add(i * p.k * p.n), out.add(i * p.m * p.n), zero, unit) };
    }
}

/// Narrow floats: widened once, multiplied and accumulated in f32, rounded once.
unsafe fn by_float<T: Copy + Sync + Send>(p: &Product, widen: fn(T) -> f32, narrow: fn(f32) -> T) {
    for i in 0..p.batch {
        // SAFETY: as in `direct`.
        unsafe {
            let matrix = |base: *const u8, len: usize| std::slice::from_raw_parts(base.cast::<T>().add(i * len), len);
            let wide = |values: &[T]| values.par_iter().with_min_len(4096).map(|v| widen(*v)).collect::<Vec<f32>>();
            let (a, b) = (wide(matrix(p.a, p.m * p.k)), wide(matrix(p.b, p.k * p.n)));
            let mut product = vec![0f32; p.m * p.n];
            one(p, a.as_ptr(), b.as_ptr(), product.as_mut_ptr(), 0.0, 1.0);
            let out = std::slice::from_raw_parts_mut(p.out.cast::<T>().add(i * p.m * p.n), p.m * p.n);
            out.par_iter_mut().with_min_len(4096).zip(&product).for_each(|(out, value)| *out = narrow(*value));
        }
    }
}
