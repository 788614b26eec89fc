//! From a parsed command line to the script or function that does it, and from its end to an exit code.

use std::io::{self, Write};
use std::path::Path;

use anyhow::Context as _;
use clap::CommandFactory;
use serde::Serialize;
use serde_json::Value;

use super::args::{Cli, Command, LoopCommand, OpCommand};
use super::{doctor, interrupt};
use crate::host::{Host, HostError, HostErrorKind, Workspace, cache_root};
use crate::model::Exit;
use crate::worker;

/// Runs one command. Errors are printed here, on stderr, as one line (and its detail).
pub fn run(cli: Cli) -> Exit {
    match cli.command {
        Command::Plan => worker::plan_main(),
        Command::Launch => worker::launch_main(),
        command => dispatch(command).unwrap_or_else(|error| report(&error)),
    }
}

fn dispatch(command: Command) -> anyhow::Result<Exit> {
    interrupt::install().context("cannot set the Ctrl-C handler")?;
    match command {
        Command::Loop(LoopCommand::Try(args)) => script("scripts/loop/try.lua", &args),
        Command::Loop(LoopCommand::Status(args)) => script("scripts/loop/status.lua", &args),
        Command::Op(OpCommand::List(args)) => script("scripts/op/list.lua", &args),
        Command::Op(OpCommand::Show(args)) => script("scripts/op/show.lua", &args),
        Command::Op(OpCommand::Check(args)) => script("scripts/op/check.lua", &args),
        Command::Run(args) => Ok(exit_of(host()?.run_file(&args.file, &args.args)?)),
        Command::Doctor(args) => doctor::run(args.json),
        Command::Init(args) => init(&args.dir),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "popcorn", &mut script);
            io::stdout().write_all(&script)?;
            Ok(Exit::Keep)
        }
        Command::Plan | Command::Launch => unreachable!("handled by run"),
    }
}

/// The trusted VM over the workspace of the current folder.
fn host() -> anyhow::Result<Host> {
    let here = std::env::current_dir().context("cannot tell the current folder")?;
    Ok(Host::new(Workspace::discover(&here, &cache_root()?))?)
}

fn script(name: &str, args: &impl Serialize) -> anyhow::Result<Exit> {
    let args: Value = serde_json::to_value(args)?;
    Ok(exit_of(host()?.run_script(name, &args)?))
}

/// A script ends with an exit code or nothing (success).
fn exit_of(code: Option<i64>) -> Exit {
    match code {
        None => Exit::Keep,
        Some(code) => Exit::from_code(code).unwrap_or(Exit::Fault),
    }
}

fn init(dir: &Path) -> anyhow::Result<Exit> {
    let written = Workspace::write_out(dir)?;
    let mut out = io::stdout().lock();
    match written.len() {
        0 => writeln!(out, "{} is up to date: nothing to write", dir.display())?,
        count => writeln!(out, "wrote {count} files to {} (ops/, scripts/, kernels/)", dir.display())?,
    }
    Ok(Exit::Keep)
}

/// Prints an error and says whose fault it is. A reader that went away (`popcorn … | head`) is no error.
fn report(error: &anyhow::Error) -> Exit {
    let broken_pipe = error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe);
    if broken_pipe {
        return Exit::Keep;
    }
    let host = error.downcast_ref::<HostError>();
    let mut text = format!("popcorn: {error:#}\n");
    if let Some(detail) = host.map(|error| error.detail.trim()).filter(|detail| !detail.is_empty()) {
        text.push_str(detail);
        text.push('\n');
    }
    // Nothing useful can be done when stderr is gone.
    let _ = io::stderr().write_all(text.as_bytes());
    match host.map(|error| error.kind) {
        Some(HostErrorKind::Usage) => Exit::Usage,
        _ => Exit::Fault,
    }
}
