//! Tensor ops, one file per family; each op stands beside its gradient.

mod assemble;
mod binary;
mod cast;
mod compare;
mod create;
mod einsum;
mod float_fns;
mod index;
mod mask;
mod matmul;
mod pointwise;
mod recurrence;
mod reduce;
mod scan;
mod select;
mod several;
mod shape;
mod softmax;
mod steps;
mod sum;
mod unary;

pub use pointwise::Approximate;
pub use recurrence::LinearRecurrence;
pub use steps::scan;
