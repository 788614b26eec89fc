//! Devices: the narrow surface that planner and launcher need from hardware.
//!
//! A [`Compiler`] turns a `.cu` file into a cached artifact and needs no device; a [`Device`] loads artifacts,
//! maps memory and replays recorded work between two events.

pub mod cpu;
mod traits;

pub use traits::{
    Access, BoundArg, BoundNode, BufferId, CompileError, CompileErrorKind, CompileJob, Compiler, Device, DeviceError,
    DeviceErrorKind, GraphId, ModuleId,
};
