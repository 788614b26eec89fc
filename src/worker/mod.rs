//! Child processes: spawn, wait, kill, framed messages, shared memory, and the two roles a child can have.
//!
//! Read in this order: [`wire`] (frames), [`spawn`] (a child in its own group with its own pipes), [`supervise`] (feed
//! it, watch it, end it), [`death`] (each way to die as a distinct result), [`shm`] (tensors), then the two roles,
//! [`planner`] and [`launcher`], each with the judge's side and the child's side.

mod death;
mod groups;
mod launcher;
mod planner;
mod shm;
mod spawn;
mod supervise;
mod tail;
mod wire;
#[cfg(test)]
mod tests;

pub use groups::kill_all;
pub use launcher::{launch_main, run_launch, run_launch_with};
pub use planner::{PlanFailure, plan_main, run_plan, run_plan_with};
pub use shm::{CaseMemory, MemoryError};
