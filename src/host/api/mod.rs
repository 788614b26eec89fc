//! The Lua API, one file per module. Each installer adds its module to the `popcorn` table (or a global of its own).

pub(super) mod arguments;
mod candidate;
mod case;
mod device;
mod exit;
mod experiment;
mod json;
mod ledger;
mod op;
mod output;
mod report;
pub(super) mod rng;
mod safetensors;
mod script;
pub mod tensor;
mod try_call;

pub use case::LuaCase;
pub use op::LuaOp;

use mlua::{Lua, Table};

/// Adds one module to the `popcorn` table.
pub(super) type Installer = fn(&Lua, &Table) -> mlua::Result<()>;

/// In order; a later module may use an earlier one. The `tensor` global comes first.
pub(super) const INSTALLERS: &[Installer] = &[
    tensor::install,
    output::install,
    try_call::install,
    json::install,
    case::install,
    op::install,
    safetensors::install,
    exit::install,
    report::install,
    script::install,
    ledger::install,
    device::install,
    candidate::install,
    experiment::install,
];

#[cfg(test)]
mod tests;
