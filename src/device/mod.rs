//! Devices: the narrow surface that planner and launcher need from hardware.
//!
//! A [`Compiler`] turns a `.cu` file into a cached artifact and needs no device; a [`Device`] loads artifacts,
//! maps memory and replays recorded work between two events.

mod cache;
pub mod cpu;
mod open;
mod options;
mod params;
mod scan;
mod traits;

pub use open::{DEVICES, describe, resolve};
pub use traits::{
    Access, BoundArg, BoundNode, BufferId, CompileError, CompileErrorKind, CompileJob, Compiler, Device, DeviceError,
    DeviceErrorKind, GraphId, ModuleId,
};
