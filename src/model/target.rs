//! What a plan is made for.

use serde::{Deserialize, Serialize};

/// What a planner and its candidate may know of a device, so that no planner need open one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    pub kind: DeviceKind,
    /// GPU architecture as NVRTC names it: `sm_90a`; None on the cpu device.
    pub architecture: Option<String>,
    /// Newest CUDA that the driver runs (`cuDriverGetVersion`: 1000 major + 10 minor); None without a driver.
    pub driver: Option<i32>,
    /// Multiprocessors, or cores that run blocks.
    pub processors: u32,
    /// Most bytes of shared memory that one block can have.
    pub shared_memory_per_block: u32,
    /// Bytes of device memory; a plan's scratch must fit.
    pub memory_bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceKind {
    Cpu,
    Cuda,
}

impl DeviceKind {
    /// The word that limits, tolerances and candidates know it by.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Cuda => "cuda",
        }
    }
}
