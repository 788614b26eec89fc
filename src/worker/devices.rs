//! Device names to what planner and launcher need of them.

use super::memory;
use crate::device::{Compiler, Device};
use crate::plan::Target;

/// What a candidate may know of the device, without opening it.
pub(super) fn target(device: &str) -> Result<Target, String> {
    match device {
        "cpu" => Ok(Target {
            kind: "cpu",
            multi_processor_count: std::thread::available_parallelism().map_or(1, |count| count.get() as u32),
            // As on Hopper (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
            shared_memory_per_block: 227 << 10,
            memory_bytes: memory::total(),
        }),
        other => Err(unknown(other)),
    }
}

pub(super) fn compiler(device: &str) -> Result<Box<dyn Compiler>, String> {
    Err(unknown(device))
}

pub(super) fn open(device: &str) -> Result<Box<dyn Device>, String> {
    Err(unknown(device))
}

fn unknown(device: &str) -> String {
    format!("device '{device}' is not known; there is: cpu")
}
