//! The trusted Lua VM: loader, strict conversion, op definitions and the `popcorn` API (`api/`, one file per Lua module).

pub mod api;
