//! Elementwise loops. They are written for the computing types only; elements of other types pass through small
//! blocks on the way in and out, which keeps the number of compiled loops (and the time to compile them) small.

use std::array;

use rayon::prelude::*;

use super::{Broadcast, CHUNK};
use crate::model::DType;
use crate::truth::element::{Compute, Element, Real, with_element};
use crate::truth::error::Result;
use crate::truth::storage::Storage;
use crate::truth::tensor::Tensor;

/// Elements converted at a time.
const BLOCK: usize = 256;

/// `f` of every element, as `out`.
pub(crate) fn map<C: Compute>(op: &'static str, x: &Tensor, out: DType, f: impl Fn(C) -> C + Sync) -> Result<Tensor> {
    elementwise::<C, 1>(op, [x], out, &|[x], out| out.iter_mut().zip(x).for_each(|(out, &x)| *out = f(x)))
}

/// `f` of two broadcast operands, as `out`.
pub(crate) fn zip<C: Compute>(
    op: &'static str,
    a: &Tensor,
    b: &Tensor,
    out: DType,
    f: impl Fn(C, C) -> C + Sync,
) -> Result<Tensor> {
    elementwise::<C, 2>(op, [a, b], out, &|operands, out| match operands {
        [&[x], b] => out.iter_mut().zip(b).for_each(|(out, &y)| *out = f(x, y)),
        [a, &[y]] => out.iter_mut().zip(a).for_each(|(out, &x)| *out = f(x, y)),
        [a, b] => out.iter_mut().zip(a.iter().zip(b)).for_each(|(out, (&x, &y))| *out = f(x, y)),
    })
}

/// Adds `other` to `x` in place; both have one shape and dtype, float64 or float32.
pub(crate) fn add_assign<C: Real>(x: &mut [C], other: &[C]) {
    let add = |(x, other): (&mut [C], &[C])| x.iter_mut().zip(other).for_each(|(x, &other)| *x += other);
    if x.len() <= CHUNK {
        add((x, other));
    } else {
        x.par_chunks_mut(CHUNK).zip(other.par_chunks(CHUNK)).for_each(add);
    }
}

/// `f` of three broadcast operands, as `out`.
pub(crate) fn zip3<C: Compute>(
    op: &'static str,
    operands: [&Tensor; 3],
    out: DType,
    f: impl Fn(C, C, C) -> C + Sync,
) -> Result<Tensor> {
    elementwise::<C, 3>(op, operands, out, &|[a, b, c], out| {
        if [a.len(), b.len(), c.len()] == [out.len(); 3] {
            let operands = a.iter().zip(b).zip(c);
            out.iter_mut().zip(operands).for_each(|(out, ((&x, &y), &z))| *out = f(x, y, z));
        } else {
            let [sa, sb, sc] = [a, b, c].map(|operand| usize::from(operand.len() > 1));
            out.iter_mut().enumerate().for_each(|(i, out)| *out = f(a[i * sa], b[i * sb], c[i * sc]));
        }
    })
}

/// A loop over one run: operands as long as the output, or one element that is repeated.
type Kernel<'a, C, const N: usize> = &'a (dyn Fn([&[C]; N], &mut [C]) + Sync);

fn elementwise<C: Compute, const N: usize>(
    op: &'static str,
    operands: [&Tensor; N],
    dtype: DType,
    kernel: Kernel<'_, C, N>,
) -> Result<Tensor> {
    let plan = Broadcast::new(op, operands.map(Tensor::shape))?;
    let mut storage = Storage::scratch(op, dtype, &plan.shape)?;
    let direct = dtype == C::DTYPE && operands.iter().all(|operand| operand.dtype() == C::DTYPE);
    let run = |start: usize, bytes: &mut [u8]| {
        if direct {
            let slices = operands.map(|operand| operand.slice::<C>());
            run_direct(&plan, slices, kernel, start, bytemuck::cast_slice_mut(bytes));
        } else {
            run_converting(&plan, operands, kernel, start, dtype, bytes);
        }
    };
    let bytes = storage.bytes_mut();
    let task = CHUNK * dtype.size();
    if bytes.len() <= task {
        run(0, bytes);
    } else {
        bytes.par_chunks_mut(task).enumerate().for_each(|(index, bytes)| run(index * CHUNK, bytes));
    }
    Ok(Tensor::new(storage, plan.shape))
}

fn run_direct<C: Compute, const N: usize>(
    plan: &Broadcast<N>,
    operands: [&[C]; N],
    kernel: Kernel<'_, C, N>,
    start: usize,
    out: &mut [C],
) {
    plan.runs(start, out.len(), &mut |at, run, offsets, strides| {
        let part = |i: usize| &operands[i][offsets[i]..][..if strides[i] == 0 { 1 } else { run }];
        kernel(array::from_fn(part), &mut out[at..at + run]);
    });
}

fn run_converting<C: Compute, const N: usize>(
    plan: &Broadcast<N>,
    operands: [&Tensor; N],
    kernel: Kernel<'_, C, N>,
    start: usize,
    dtype: DType,
    bytes: &mut [u8],
) {
    let mut buffers = [[C::ZERO; BLOCK]; N];
    let mut result = [C::ZERO; BLOCK];
    let size = dtype.size();
    plan.runs(start, bytes.len() / size, &mut |at, run, offsets, strides| {
        for first in (0..run).step_by(BLOCK) {
            let len = BLOCK.min(run - first);
            for (i, buffer) in buffers.iter_mut().enumerate() {
                let taken = if strides[i] == 0 { 1 } else { len };
                read_elements(operands[i], offsets[i] + first * strides[i], &mut buffer[..taken]);
            }
            let part = |i: usize| &buffers[i][..if strides[i] == 0 { 1 } else { len }];
            kernel(array::from_fn(part), &mut result[..len]);
            write_elements(dtype, &result[..len], &mut bytes[(at + first) * size..][..len * size]);
        }
    });
}

/// Elements from `offset` on, in the computing type.
fn read_elements<C: Compute>(x: &Tensor, offset: usize, out: &mut [C]) {
    with_element!(x.dtype(), T => {
        out.iter_mut().zip(&x.slice::<T>()[offset..]).for_each(|(out, x)| *out = x.load().cast());
    });
}

/// Rounds elements to `dtype`; for bool, whatever is not 0 is true.
pub(crate) fn write_elements<C: Compute>(dtype: DType, x: &[C], bytes: &mut [u8]) {
    if dtype == DType::Bool {
        bytes.iter_mut().zip(x).for_each(|(out, &x)| *out = u8::from(x != C::ZERO));
        return;
    }
    with_element!(dtype, T => {
        let out: &mut [T] = bytemuck::cast_slice_mut(bytes);
        out.iter_mut().zip(x).for_each(|(out, x)| *out = T::store(x.cast()));
    });
}
