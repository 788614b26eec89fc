//! The command line. Only types and help texts: what a command does is in `dispatch` or in its Lua script.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use serde::Serialize;

const AFTER_HELP: &str = "\
Exit codes: 0 KEEP or success · 1 REVERT · 2 usage · 3 no verdict · 4 environment or op fault
Environment: POPCORN_CACHE_DIR (default ~/.cache/popcorn) · POPCORN_CXX (C++ compiler of the cpu device) · NO_COLOR";

/// Tells whether an edit of a GPU kernel is right and faster.
#[derive(Debug, Parser)]
#[command(version, about, after_help = AFTER_HELP, arg_required_else_help = true, max_term_width = 110)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run experiments on a candidate kernel and look at their history
    #[command(subcommand, name = "loop")]
    Loop(LoopCommand),
    /// List, show, check and start op definitions
    #[command(subcommand)]
    Op(OpCommand),
    /// Run a Lua script with popcorn's primitives
    #[command(after_help = "Example: popcorn run my_sweep.lua rms_norm 8")]
    Run(RunArgs),
    /// Tell what this machine has, what is missing, and how to get it
    Doctor(DoctorArgs),
    /// Write the built-in ops, scripts and kernels to a folder, to edit them there
    #[command(after_help = "Example: popcorn init my-kernels && cd my-kernels && popcorn loop try softmax")]
    Init(InitArgs),
    /// Print a completion script for a shell
    #[command(after_help = "Example: popcorn completions bash > ~/.local/share/bash-completion/completions/popcorn")]
    Completions { shell: Shell },
    /// Plan a candidate (a child process of popcorn's own)
    #[command(name = "__plan", hide = true)]
    Plan,
    /// Launch a plan (a child process of popcorn's own)
    #[command(name = "__launch", hide = true)]
    Launch,
}

#[derive(Debug, Subcommand)]
pub enum LoopCommand {
    /// Evaluate one candidate on a fixed sample of cases: KEEP (exit 0) or REVERT (exit 1)
    Try(TryArgs),
    /// Show the history of experiments
    Status(StatusArgs),
}

#[derive(Debug, Args, Serialize)]
#[command(after_help = "\
Examples:
  popcorn loop try rms_norm                              the candidate kernels/rms_norm_cu.lua on 4 cases
  popcorn loop try rms_norm --case 'normalized_shape=4096,batch=(64,),bfloat16'
  popcorn loop try softmax --cases 8 --reps 10 --tag vec8 --note 'wider loads'
  popcorn loop try rms_norm --show-plan                  what the candidate would launch, without running it

A KEEP is a local result on a sample, not a validation.")]
pub struct TryArgs {
    /// The op, e.g. rms_norm (`popcorn op list` shows all)
    pub op: String,
    /// How many cases to sample
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub cases: u32,
    /// Draws per case; each one is graded and timed
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub reps: u32,
    /// A case instead of the sample, e.g. 'hidden=65,batch=(8,),float16' (repeatable)
    #[arg(long = "case", value_name = "SPEC")]
    pub case: Vec<String>,
    /// Also time a registered implementation on the same inputs (advisory)
    #[arg(long, value_name = "IMPL")]
    pub vs: Option<String>,
    /// The candidate's Lua file, instead of the op's registered `popcorn` implementation
    #[arg(long = "impl", value_name = "PATH")]
    pub implementation: Option<PathBuf>,
    /// Neither grade nor time the backward pass
    #[arg(long)]
    pub forward_only: bool,
    /// Seconds that one case may take in its process
    #[arg(long, value_name = "SECONDS", default_value_t = 240.0, value_parser = positive_seconds)]
    pub timeout: f64,
    /// auto or cpu
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    pub device: String,
    /// Name of a policy in scripts/policies, or a Lua file
    #[arg(long, value_name = "NAME|FILE", default_value = "recorded")]
    pub policy: String,
    /// Seed of the first draw; draw i uses SEED + i
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u32,
    /// A short name for this experiment in the record
    #[arg(long, value_name = "T", default_value = "")]
    pub tag: String,
    /// What was tried, for the record
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub note: String,
    /// Record file (default: <cache>/v4/loop/<op>.jsonl)
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Print the candidate's plan for each case and stop: nothing is run or recorded
    #[arg(long)]
    pub show_plan: bool,
    /// Print the record as one JSON line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args, Serialize)]
#[command(after_help = "\
Examples:
  popcorn loop status                     every op with a record
  popcorn loop status rms_norm --last 20
  popcorn loop status --log old.jsonl     a file, also one of the Python tool's")]
pub struct StatusArgs {
    /// Ops to show (default: all that have a record)
    pub ops: Vec<String>,
    /// How many recent experiments to list
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub last: u32,
    /// Read this record file instead of the cache
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Machine-readable output
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum OpCommand {
    /// List all ops
    List(OpListArgs),
    /// Show one op: signature, cases, tolerance, implementations
    Show(OpShowArgs),
    /// Check op definitions: they load, run, and have right gradients
    Check(OpCheckArgs),
    /// Write a commented skeleton of a new op to ops/NAME.lua
    New(OpNewArgs),
}

#[derive(Debug, Args, Serialize)]
#[command(after_help = "Example: popcorn op new scaled_tanh && popcorn op check scaled_tanh")]
pub struct OpNewArgs {
    /// Name of the op, which is the reference's name too: small letters, digits and _
    pub name: String,
}

#[derive(Debug, Args, Serialize)]
#[command(after_help = "Example: popcorn op list --tag attention")]
pub struct OpListArgs {
    /// Only ops with this tag
    #[arg(long, value_name = "TAG")]
    pub tag: Option<String>,
    /// Machine-readable output
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args, Serialize)]
#[command(after_help = "Example: popcorn op show rms_norm --cases 8")]
pub struct OpShowArgs {
    pub op: String,
    /// How many cases of the sample to show
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub cases: u32,
    /// auto or cpu
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    pub device: String,
    /// Machine-readable output
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args, Serialize)]
#[command(after_help = "\
Examples:
  popcorn op check rms_norm                                 load, run, compare gradients with finite differences
  popcorn op check rms_norm --against rms_norm.safetensors  compare with stored fp64 outputs and gradients
  popcorn op check --all --against golden/
  popcorn op check --all --compile-only --arch sm_80,sm_90,sm_100   compile every candidate; needs NVRTC and no GPU")]
pub struct OpCheckArgs {
    #[arg(required_unless_present = "all")]
    pub ops: Vec<String>,
    /// Every op
    #[arg(long, conflicts_with = "ops")]
    pub all: bool,
    /// A safetensors file of reference values, or a folder of <op>.safetensors
    #[arg(long, value_name = "PATH")]
    pub against: Option<PathBuf>,
    /// Compile the kernels of registered candidates for GPUs, on the sample for a GPU, and run nothing
    #[arg(long, conflicts_with = "against")]
    pub compile_only: bool,
    /// GPU architectures to compile for
    #[arg(long, value_name = "ARCH", value_delimiter = ',', requires = "compile_only", default_values = ["sm_80", "sm_90", "sm_100"])]
    pub arch: Vec<String>,
    /// Machine-readable output
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct RunArgs {
    /// The Lua file
    pub file: PathBuf,
    /// Arguments, in the script as `local args = ...`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARG")]
    pub args: Vec<String>,
}

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Machine-readable output
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct InitArgs {
    /// The folder (created if need be; files that differ are never overwritten)
    #[arg(default_value = ".")]
    pub dir: PathBuf,
}

fn positive_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 86_400.0 => Ok(seconds),
        _ => Err("a number of seconds above 0, at most 86400".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_timeout_is_a_positive_number() {
        for bad in ["0", "-1", "nan", "inf", "x", "1e9"] {
            assert!(positive_seconds(bad).is_err(), "{bad}");
        }
        assert_eq!(positive_seconds("0.5"), Ok(0.5));
    }
}
