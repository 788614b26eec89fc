//! From a parsed command line to the script or function that does it, and from its end to an exit code.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use clap::CommandFactory;
use serde::Serialize;

use super::args::{Cli, Command, LoopCommand, OpCommand, RunArgs};
use super::{doctor, interrupt};
use crate::host::{Host, HostError, HostErrorKind, Settings, Workspace, cache_root, exit_code};
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
        Command::Loop(LoopCommand::Try(args)) => {
            let limit = Duration::from_secs_f64(args.timeout);
            script("scripts/loop/try.lua", &args, Settings { reference_limit: limit, ..Settings::default() })
        }
        Command::Loop(LoopCommand::Status(args)) => script("scripts/loop/status.lua", &args, Settings::default()),
        Command::Op(OpCommand::List(args)) => script("scripts/op/list.lua", &args, Settings::default()),
        Command::Op(OpCommand::Show(args)) => script("scripts/op/show.lua", &args, Settings::default()),
        Command::Op(OpCommand::New(args)) => script("scripts/op/new.lua", &args, Settings::default()),
        Command::Op(OpCommand::Check(args)) if args.compile_only => {
            script("scripts/op/compile.lua", &args, Settings::default())
        }
        Command::Op(OpCommand::Check(args)) => script("scripts/op/check.lua", &args, Settings::default()),
        Command::Run(args) => run_file(&args),
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
fn host(settings: Settings) -> anyhow::Result<Host> {
    let here = std::env::current_dir().context("cannot tell the current folder")?;
    Ok(Host::new(Workspace::discover(&here, &cache_root()?), settings)?)
}

fn script(name: &str, args: &impl Serialize, settings: Settings) -> anyhow::Result<Exit> {
    exit_of(&host(settings)?.run_script(name, args)?)
}

fn run_file(args: &RunArgs) -> anyhow::Result<Exit> {
    if !args.file.is_file() {
        return Err(HostError::usage(format!("no file '{}' to run", args.file.display())).into());
    }
    exit_of(&host(Settings::default())?.run_file(&args.file, &args.args)?)
}

/// A script ends with an exit code or nothing (success).
fn exit_of(value: &mlua::Value) -> anyhow::Result<Exit> {
    let code = exit_code(value)?;
    Ok(Exit::from_code(i64::from(code)).unwrap_or(Exit::Fault))
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
