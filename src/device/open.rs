//! Devices by name.

use std::path::Path;

use super::cpu;
use crate::model::DeviceInfo;

/// The names that `--device` takes.
pub const DEVICES: [&str; 2] = ["auto", "cpu"];

/// The device kind that `name` stands for on this machine.
pub fn resolve(name: &str) -> Option<&'static str> {
    matches!(name, "auto" | "cpu").then_some("cpu")
}

/// What a record says of a resolved device, without opening it. The compiler is empty where there is none.
pub fn describe(_kind: &str, cache_dir: &Path) -> DeviceInfo {
    cpu::describe(cpu::find_compiler(cache_dir).map(|compiler| compiler.version).unwrap_or_default())
}
