//! The trusted Lua VM: loader, strict conversion, op definitions and the `popcorn` API (`api/`, one file per Lua module).

pub mod api;
pub mod convert;
pub mod json;
pub mod op;

mod deadline;
mod error;
mod loader;
mod suggest;
mod vm;
mod workspace;

pub use convert::{from_lua, to_lua};
pub use error::{HostError, HostErrorKind};
pub use loader::FileRead;
pub use suggest::{did_you_mean, nearest, nearest_few};
pub use vm::{Host, Settings, exit_code};
pub use workspace::{FileContent, Workspace, cache_root};
