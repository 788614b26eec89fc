//! Arguments, commands and exit codes.

mod args;
mod dispatch;
mod doctor;
mod exit;
mod interrupt;

pub use args::Cli;
pub use dispatch::run;
pub use exit::Exit;
