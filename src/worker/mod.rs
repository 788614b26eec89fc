//! Child processes: spawn, wait, kill, framed messages, shared memory, and the two roles a child can have.
//!
//! The judge never runs candidate code. It re-executes this binary as a planner ([`run_plan`]) or as a launcher
//! ([`run_launch`]), each in a process group of its own with a deadline, and believes nothing a child says beyond
//! framed JSON of a fixed schema. What a child prints is kept as diagnostics.

mod child;
mod launch_role;
mod live;
mod memory;
mod plan_role;
mod run;
mod tail;
mod wire;

pub use launch_role::launch_main;
pub use live::kill_all;
pub use memory::{CaseMemory, MemoryError};
pub use plan_role::plan_main;
pub use run::{run_launch, run_plan};
