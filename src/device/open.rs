//! Devices by name.

use std::path::Path;

use super::cpu::{CpuCompiler, CpuDevice};
use super::{Compiler, Device, DeviceError, DeviceErrorKind};

/// The names that `--device` takes.
pub const DEVICES: [&str; 2] = ["auto", "cpu"];

/// The device that `name` stands for on this machine.
pub fn resolve(name: &str) -> Option<&'static str> {
    matches!(name, "auto" | "cpu").then_some("cpu")
}

/// Opens a resolved device.
pub fn open(name: &str) -> Result<Box<dyn Device>, DeviceError> {
    match name {
        "cpu" => Ok(Box::new(CpuDevice::open()?)),
        other => Err(unknown(other)),
    }
}

/// The compiler for a resolved device. It finds its host compiler when first asked to compile.
pub fn compiler(name: &str, cache_dir: &Path) -> Result<Box<dyn Compiler>, DeviceError> {
    match name {
        "cpu" => Ok(Box::new(CpuCompiler::new(cache_dir))),
        other => Err(unknown(other)),
    }
}

fn unknown(name: &str) -> DeviceError {
    DeviceError { kind: DeviceErrorKind::Environment, message: format!("this popcorn has no device '{name}'; it has: cpu") }
}
