//! popcorn tells people who write GPU kernels whether an edit is right and faster.
//!
//! Modules are listed in the order in which data flows through them. A stage turns one [`model`] type into
//! the next; it never calls another stage and never prints. Lua (`scripts/`) is the only conductor.

pub mod model;
pub mod cli;
pub mod host;
pub mod case;
pub mod plan;
pub mod worker;
pub mod device;
pub mod timing;
pub mod truth;
pub mod judge;
pub mod stats;
pub mod ledger;
pub mod report;
