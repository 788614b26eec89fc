//! The `popcorn` API: one file (or folder) per Lua module.

pub mod tensor;
