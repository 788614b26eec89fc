//! What the judge sends to its child processes and what it accepts back.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Plan, Signature, Target};

/// Judge → planner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanRequest {
    pub target: Target,
    /// The candidate's Lua file, absolute.
    pub candidate: PathBuf,
    /// Folder that messages are relative to (the workspace root).
    pub root: PathBuf,
    pub signature: Signature,
    /// Compiled objects are cached here.
    pub cache_dir: PathBuf,
}

/// Planner → judge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanReply {
    Plan(Plan),
    Error(PlanError),
}

/// Why there is no plan. `kind` decides the status, `message` is one line (file:line first), `detail` may be long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(deny_unknown_fields)]
#[error("{message}")]
pub struct PlanError {
    pub kind: PlanErrorKind,
    pub message: String,
    pub detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanErrorKind {
    /// The candidate's Lua: syntax, a raised error, a limit, a wrong return value.
    Candidate,
    /// The candidate's `.cu` does not compile, or asks for what this device cannot do.
    Compile,
    /// A launch whose kernel, grid or arguments do not fit.
    Launch,
    /// The plan needs more memory than the device has.
    Oom,
    /// The environment: no compiler, cache not writable.
    Environment,
}

/// Judge → launcher.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchRequest {
    pub device: String,
    pub plan: Plan,
    /// The judge's input and output memory on the device; None when the launcher inherits two memory files.
    pub handles: Option<[IpcHandle; 2]>,
    /// Where each non-scratch buffer of each set lies in that memory.
    pub shared: Vec<SharedBuffer>,
    pub schedule: Schedule,
    pub backward: bool,
}

/// `CUipcMemHandle`: names an allocation to another process on the same GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IpcHandle(pub [u8; 64]);

impl Serialize for IpcHandle {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_slice().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for IpcHandle {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = Vec::<u8>::deserialize(deserializer)?;
        bytes.try_into().map(Self).map_err(|_| serde::de::Error::custom("a handle has 64 bytes"))
    }
}

/// One buffer of one set inside one of the judge's two pieces of memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedBuffer {
    pub set: u32,
    /// Index into [`Plan::buffers`].
    pub buffer: u32,
    pub region: Region,
    /// Bytes from the start of the region, a multiple of 16. The pages that hold `offset .. offset + bytes` hold
    /// nothing else, and the data ends (rounded up to 16) at a page end, so that an overrun faults at once.
    pub offset: u64,
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Region {
    /// Inputs and cotangents: read-only for the launcher.
    Inputs,
    /// Outputs and gradients.
    Outputs,
}

/// How often what is run; fixed before the first launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// Sets of inputs and outputs that launches rotate over.
    pub sets: u32,
    /// Timed repetitions.
    pub reps: u32,
    /// Untimed runs before the first rep, per pass.
    pub warmup: u32,
    /// One rep launches its pass until it spans at least this long (a count found in warm-up, then fixed), each launch on
    /// the next set.
    pub min_rep_ns: u64,
}

/// Launcher → judge, in order: stages, then one `done` or `failed`. A dead launcher sends neither.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LauncherFrame {
    Stage(Stage),
    Done(LaunchReport),
    Failed(LaunchFailure),
}

/// What the launcher is about to do, so that a death has a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    Load,
    Forward,
    Backward,
    /// The timed reps of both passes.
    Timing,
}

/// Times taken by popcorn's own code around launches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchReport {
    pub device: DeviceInfo,
    pub forward: Vec<Sample>,
    pub backward: Vec<Sample>,
    /// Peak bytes of scratch that the plan allocates.
    pub scratch_bytes: u64,
    /// None where the host's clock is the timer.
    pub timer: Option<TimerInfo>,
}

/// A device's own timer and clock, measured beside the timed launches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimerInfo {
    /// Step of the timer.
    pub tick_ns: u64,
    /// Time between two events with nothing between them; part of every sample.
    pub empty_pair_ns: u64,
    /// Mean multiprocessor clock over the timed visit.
    pub sm_mhz: Option<f64>,
}

impl LaunchReport {
    /// How many of the first sets hold what timed launches wrote; rep `r` begins at launch `r * n` of the rotation, where
    /// `n` is the larger count of both passes.
    pub fn covered(&self, sets: u32) -> u32 {
        let launches = |samples: &[Sample]| samples.iter().map(|sample| sample.launches).max().unwrap_or(0);
        let window = launches(&self.forward).max(launches(&self.backward));
        sets.min(window.saturating_mul(self.forward.len() as u32))
    }
}

/// One rep: `launches` of the pass took `ns` in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    pub launches: u32,
    pub ns: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchFailure {
    pub kind: LaunchFailureKind,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaunchFailureKind {
    /// Memory for the plan's scratch cannot be had.
    Oom,
    /// The device refused a launch.
    Launch,
    /// A kernel did what ends its context.
    Fault,
    /// The judge's memory cannot be mapped this way.
    Sharing,
    /// popcorn's own fault or the machine's.
    Environment,
}

/// What the judge knows after a launcher: times, or why there are none.
pub type RunOutcome = Result<LaunchReport, RunFailure>;

/// A child that gave no result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(deny_unknown_fields)]
#[error("{message}")]
pub struct RunFailure {
    pub status: RunStatus,
    /// Machine-readable: `signal:SIGSEGV`, `exit:3`, `deadline:forward`, `protocol`, `oom`, `launch`, `spawn`, …
    pub reason: String,
    /// One line: what happened, where.
    pub message: String,
    /// The child's last lines, diagnostics only.
    pub stderr_tail: Vec<String>,
}

/// How a run without a result counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    Crash,
    Hang,
    Oom,
    /// popcorn's own fault or the machine's, never the candidate's.
    Error,
}

/// What a record says about the hardware.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceInfo {
    /// `cpu` or `cuda`.
    pub kind: String,
    /// e.g. `cpu: AMD EPYC 9B14 (2 threads)`.
    pub name: String,
    /// Bytes of device memory.
    pub memory_bytes: u64,
    /// Cores or multiprocessors that run blocks.
    pub processors: u32,
    /// Compiler and its version.
    pub compiler: String,
}
