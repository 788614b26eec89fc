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
mod reduce;
mod scan;
mod select;
mod shape;
mod softmax;
mod sum;
mod unary;

pub use pointwise::Approximate;
