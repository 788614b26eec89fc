//! Loops over elements: no tape, no promotion, operands already checked.

mod broadcast;
mod fill;
mod fold;
mod gemm;
mod map;
pub(crate) mod recurrence;
mod strided;

pub(crate) use broadcast::{Broadcast, broadcast_shape};
pub(crate) use fill::{CHUNK, fill};
pub(crate) use fold::{fold, fold_product};
pub(crate) use gemm::{Matrix, batched_gemm};
pub(crate) use map::{add_assign, map, write_elements, zip, zip3};
pub(crate) use strided::{add_strided, copy_strided, row_major};
