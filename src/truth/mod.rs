//! fp64 truth: an eager tensor engine with a reverse-mode tape, under PyTorch's names.
//!
//! [`Tensor`] holds contiguous row-major elements; ops (`ops/`, one file per family, each op with its gradient) are
//! loops (`kernel/`) over promoted operands. Results never depend on the number of threads: work is cut by fixed sizes.
//! f16 and bf16 ops compute in f32 and round their result once; reductions of them accumulate in f32.

mod element;
mod error;
mod kernel;
mod number;
mod ops;
mod storage;
mod tape;
mod tensor;
#[cfg(test)]
mod tests;

pub use error::{Error, Result};
pub use number::{Number, Operand, promote_types};
pub use ops::{Approximate, LinearRecurrence, scan};
pub use storage::{Storage, memory_in_use, set_memory_budget};
pub use tape::grad;
pub use tensor::Tensor;
