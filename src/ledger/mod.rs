//! The record: one JSON line per experiment, appended under a lock, read without ever failing on a bad line.

mod append;
mod git;
mod read;

pub use append::{AppendError, append, check_writable, quiesce};
pub use git::{GitState, git_state};
pub use read::{Entry, Log, Problem, ProblemKind, read};

/// The version of the lines that this build writes. Raise it when a field changes its meaning or goes away; adding
/// a field needs no new version. The Python tool of the same name wrote versions up to 3, without a version field.
pub const VERSION: u64 = 4;
