//! Parallel filling of a new tensor.

use bytemuck::Pod;
use rayon::prelude::*;

use crate::model::DType;
use crate::truth::error::Result;
use crate::truth::storage::Storage;
use crate::truth::tensor::Tensor;

/// Elements per parallel task. Fixed, so that the cut of the work does not depend on the machine.
pub(crate) const CHUNK: usize = 1 << 14;

/// A new tensor whose chunks `write(start, chunk)` fills completely; `T` is as wide as `dtype`.
///
/// The callback is a trait object to keep one copy of the parallel machinery per width and not one per op.
pub(crate) fn fill<T: Pod + Send>(
    op: &'static str,
    dtype: DType,
    shape: &[usize],
    write: &(dyn Fn(usize, &mut [T]) + Sync),
) -> Result<Tensor> {
    let mut storage = Storage::scratch(op, dtype, shape)?;
    let out = storage.raw_mut::<T>();
    if out.len() <= CHUNK {
        write(0, out);
    } else {
        out.par_chunks_mut(CHUNK).enumerate().for_each(|(index, chunk)| write(index * CHUNK, chunk));
    }
    Ok(Tensor::new(storage, shape.to_vec()))
}
