//! The execution model: blocks on worker threads, threads of a block as fibers, warps as 32-bit masks.

pub(super) mod abi;
mod barrier;
mod block;
mod launch;
mod report;
mod sched;
mod stack;
mod switch;
mod warp;

pub(super) use launch::{Launch, Workers};
pub use report::FAULT_EXIT;
pub(super) use report::{Fault, Place, fail, short, write_line};
pub(super) use sched::{fiber_stack_of, here};
pub(super) use stack::stack_guard_hit;
