//! Device names to what planner and launcher need of them.

use std::path::Path;

use crate::device::cpu::{CpuCompiler, CpuDevice};
use crate::device::{Compiler, Device, host_memory};
use crate::model::Plan;
use crate::plan::Target;

/// What a candidate may know of the device, without opening it.
pub(super) fn target(device: &str) -> Result<Target, String> {
    match device {
        "cpu" => Ok(Target {
            kind: "cpu",
            processors: std::thread::available_parallelism().map_or(1, |count| count.get() as u32),
            // As on Hopper (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
            shared_memory_per_block: 227 << 10,
            memory_bytes: host_memory::total(),
        }),
        other => Err(unknown(other)),
    }
}

pub(super) fn compiler(device: &str, cache_dir: &Path) -> Result<Box<dyn Compiler>, String> {
    match device {
        "cpu" => Ok(Box::new(CpuCompiler::new(cache_dir).map_err(|error| error.message)?)),
        other => Err(unknown(other)),
    }
}

/// Opens a device to replay `plan` on.
pub(super) fn open(device: &str, plan: &Plan) -> Result<Box<dyn Device>, String> {
    match device {
        "cpu" => Ok(Box::new(CpuDevice::new(plan.compiler.clone()))),
        other => Err(unknown(other)),
    }
}

fn unknown(device: &str) -> String {
    format!("device '{device}' is not known; there is: cpu")
}
