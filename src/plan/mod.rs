//! The planner: a bare Lua VM calls the candidate on symbolic tensors and records what it does as a plan.
//!
//! The order of work: [`vm`] builds a VM that can compute and nothing else, `gpu` (this module's [`gpu`]) is all it
//! sees, [`recorder`] writes down what it asks for, [`candidate`] calls it and checks what it returns, [`resolve`]
//! compiles the kernels and fits every launch to the real parameter list. [`check`] validates a plan wherever it came
//! from; [`render`] prints one.

mod call;
mod candidate;
mod check;
mod error;
mod gpu;
mod kernel;
mod limits;
mod planner;
mod recorder;
mod render;
mod resolve;
mod scalar;
mod tensor;
mod vm;
#[cfg(test)]
mod tests;

pub use check::{check, check_structure};
pub use limits::LUA_SECONDS;
pub use planner::plan;
pub use render::render;
