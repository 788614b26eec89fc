//! The Lua API, one file per module. Each installer adds its module to the `popcorn` table (or a global of its own).

mod arguments;
mod json;
mod output;

use mlua::{Lua, Table};

/// Adds one module to the `popcorn` table.
pub(super) type Installer = fn(&Lua, &Table) -> mlua::Result<()>;

/// In order; a later module may use an earlier one. The `tensor` global comes first.
pub(super) const INSTALLERS: &[Installer] = &[output::install, json::install];
