//! How a case can end, other than with numbers.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{PlanError, PlanErrorKind, RunFailure, RunStatus};

/// The status of one case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Pass,
    /// The numbers are wrong.
    Fail,
    /// The candidate cannot be planned, compiled or launched, or its process died.
    Crash,
    /// It asks for more memory than there is.
    Oom,
    /// popcorn's, the op's or the machine's fault: says nothing about the candidate.
    Error,
    /// It did not end in time.
    Hang,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Crash => "crash",
            Self::Oom => "oom",
            Self::Error => "error",
            Self::Hang => "hang",
        })
    }
}

/// Why a case ended early.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{reason}")]
pub struct Fault {
    pub status: Status,
    /// A stable word for scripts: `compile`, `signal`, `deadline`, …
    pub code: String,
    /// One line: object, value, next step.
    pub reason: String,
    /// Diagnostics as the child or compiler printed them; at most [`Self::DETAIL_LINES`] lines.
    pub detail: Vec<String>,
}

impl Fault {
    /// How many lines of a child's output are kept.
    pub const DETAIL_LINES: usize = 8;

    pub fn new(status: Status, code: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { status, code: code.into(), reason: reason.into(), detail: Vec::new() }
    }

    /// The last lines of `text` as detail.
    pub fn with_detail(mut self, text: &str) -> Self {
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let kept = lines.len().saturating_sub(Self::DETAIL_LINES);
        self.detail = lines[kept..].iter().map(|line| (*line).to_owned()).collect();
        self
    }
}

impl From<RunFailure> for Fault {
    fn from(failure: RunFailure) -> Self {
        let status = match failure.status {
            RunStatus::Crash => Status::Crash,
            RunStatus::Hang => Status::Hang,
            RunStatus::Oom => Status::Oom,
            RunStatus::Error => Status::Error,
        };
        Self { status, code: failure.reason, reason: failure.message, detail: failure.stderr_tail }
    }
}

impl From<PlanError> for Fault {
    fn from(error: PlanError) -> Self {
        let (status, code) = match error.kind {
            PlanErrorKind::Candidate => (Status::Crash, "candidate"),
            PlanErrorKind::Compile => (Status::Crash, "compile"),
            PlanErrorKind::Launch => (Status::Crash, "launch"),
            PlanErrorKind::Oom => (Status::Oom, "oom"),
            PlanErrorKind::Environment => (Status::Error, "environment"),
        };
        Self::new(status, code, error.message).with_detail(&error.detail)
    }
}
