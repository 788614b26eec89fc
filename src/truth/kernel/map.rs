//! Elementwise loops, parallel over fixed chunks of the output.

use rayon::prelude::*;

use super::Broadcast;
use crate::truth::element::Element;
use crate::truth::error::Result;
use crate::truth::storage::Storage;
use crate::truth::tensor::Tensor;

/// Elements per parallel task. Fixed, so that the cut of the work does not depend on the machine.
pub(crate) const CHUNK: usize = 1 << 14;

/// A new tensor whose chunks `write(start, chunk)` fills completely.
pub(crate) fn fill<O: Element>(
    op: &'static str,
    shape: &[usize],
    write: impl Fn(usize, &mut [O]) + Sync,
) -> Result<Tensor> {
    let mut storage = Storage::scratch(op, O::DTYPE, shape)?;
    let out = storage.slice_mut::<O>();
    if out.len() <= CHUNK {
        write(0, out);
    } else {
        out.par_chunks_mut(CHUNK).enumerate().for_each(|(index, chunk)| write(index * CHUNK, chunk));
    }
    Ok(Tensor::new(storage, shape.to_vec()))
}

/// `f` of every element.
pub(crate) fn map<T: Element, O: Element>(
    op: &'static str,
    x: &Tensor,
    f: impl Fn(T::Compute) -> O::Compute + Sync,
) -> Result<Tensor> {
    let x_all = x.slice::<T>();
    fill::<O>(op, x.shape(), |start, out| {
        for (out, x) in out.iter_mut().zip(&x_all[start..]) {
            *out = O::store(f(x.load()));
        }
    })
}

/// `f` of two broadcast operands.
pub(crate) fn zip<T: Element, U: Element, O: Element>(
    op: &'static str,
    a: &Tensor,
    b: &Tensor,
    f: impl Fn(T::Compute, U::Compute) -> O::Compute + Sync,
) -> Result<Tensor> {
    let plan = Broadcast::new(op, [a.shape(), b.shape()])?;
    let (a, b) = (a.slice::<T>(), b.slice::<U>());
    fill::<O>(op, &plan.shape, |start, out| {
        plan.runs(start, out.len(), |at, run, [ia, ib], strides| {
            let out = &mut out[at..at + run];
            match strides {
                [0, _] => {
                    let x = a[ia].load();
                    out.iter_mut().zip(&b[ib..]).for_each(|(out, y)| *out = O::store(f(x, y.load())));
                }
                [_, 0] => {
                    let y = b[ib].load();
                    out.iter_mut().zip(&a[ia..]).for_each(|(out, x)| *out = O::store(f(x.load(), y)));
                }
                _ => {
                    let operands = a[ia..].iter().zip(&b[ib..]);
                    out.iter_mut().zip(operands).for_each(|(out, (x, y))| *out = O::store(f(x.load(), y.load())));
                }
            }
        });
    })
}

/// `f` of three broadcast operands, the first of another element type (a mask or the same).
pub(crate) fn zip3<S: Element, T: Element, O: Element>(
    op: &'static str,
    a: &Tensor,
    b: &Tensor,
    c: &Tensor,
    f: impl Fn(S::Compute, T::Compute, T::Compute) -> O::Compute + Sync,
) -> Result<Tensor> {
    let plan = Broadcast::new(op, [a.shape(), b.shape(), c.shape()])?;
    let (a, b, c) = (a.slice::<S>(), b.slice::<T>(), c.slice::<T>());
    fill::<O>(op, &plan.shape, |start, out| {
        plan.runs(start, out.len(), |at, run, [ia, ib, ic], strides| {
            let out = &mut out[at..at + run];
            if strides == [1, 1, 1] {
                let operands = a[ia..].iter().zip(&b[ib..]).zip(&c[ic..]);
                for (out, ((x, y), z)) in out.iter_mut().zip(operands) {
                    *out = O::store(f(x.load(), y.load(), z.load()));
                }
            } else {
                let [sa, sb, sc] = strides;
                for (i, out) in out.iter_mut().enumerate() {
                    *out = O::store(f(a[ia + i * sa].load(), b[ib + i * sb].load(), c[ic + i * sc].load()));
                }
            }
        });
    })
}
