//! Arguments, commands and exit codes.

mod args;
mod dispatch;
mod doctor;
mod interrupt;

pub use args::Cli;
pub use dispatch::run;
