//! Devices: the narrow surface that planner and launcher need from hardware.
//!
//! A [`Compiler`] turns a `.cu` file into a cached artifact and needs no device; a [`Device`] loads artifacts,
//! maps memory and runs recorded work between two events.

mod arguments;
mod cache;
pub mod cpu;
pub mod cuda;
mod entries;
pub(crate) mod host_memory;
mod open;
mod options;
mod params;
mod scan;
mod traits;

pub use open::{compiler, describe, kind, open, resolve, target};
pub use traits::{
    Access, BoundArg, BoundNode, BufferId, CompileError, CompileErrorKind, CompileJob, Compiler, Device, DeviceError,
    DeviceErrorKind, GraphId, ModuleId, Shared, Step,
};
