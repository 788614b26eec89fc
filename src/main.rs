//! Parse, run, exit.

use std::process::ExitCode;

use clap::Parser;
use popcorn::cli;

fn main() -> ExitCode {
    cli::run(cli::Cli::parse()).into()
}
