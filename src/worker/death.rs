//! Each way in which a child can end without a result, as a distinct failure.

use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use super::supervise::End;
use crate::device::cpu::FAULT_EXIT;
use crate::model::{LaunchFailure, LaunchFailureKind, RunFailure, RunStatus, Stage};

/// Signals that faults raise, by the names people know.
const SIGNALS: &[(i32, &str)] = &[
    (libc::SIGABRT, "SIGABRT"),
    (libc::SIGALRM, "SIGALRM"),
    (libc::SIGBUS, "SIGBUS"),
    (libc::SIGFPE, "SIGFPE"),
    (libc::SIGHUP, "SIGHUP"),
    (libc::SIGILL, "SIGILL"),
    (libc::SIGINT, "SIGINT"),
    (libc::SIGKILL, "SIGKILL"),
    (libc::SIGPIPE, "SIGPIPE"),
    (libc::SIGQUIT, "SIGQUIT"),
    (libc::SIGSEGV, "SIGSEGV"),
    (libc::SIGSYS, "SIGSYS"),
    (libc::SIGTERM, "SIGTERM"),
    (libc::SIGTRAP, "SIGTRAP"),
    (libc::SIGUSR1, "SIGUSR1"),
    (libc::SIGXCPU, "SIGXCPU"),
    (libc::SIGXFSZ, "SIGXFSZ"),
];

/// The failure of `role` (`launcher`, `planner`) that ended so in `stage` without a result.
pub(super) fn failure(role: &str, stage: &str, end: End, timeout: Duration, stderr_tail: Vec<String>) -> RunFailure {
    let said = stderr_tail.last().map_or_else(String::new, |line| format!(": {line}"));
    let (status, reason, message) = match end {
        End::NotStarted(error) => {
            (RunStatus::Error, "spawn".to_owned(), format!("{role} could not be started: {error}"))
        }
        End::Protocol(why) => {
            (RunStatus::Crash, "protocol".to_owned(), format!("{role} sent what it must not ({stage}): {why}"))
        }
        End::Deadline => (
            RunStatus::Hang,
            format!("deadline:{stage}"),
            format!("{role} was still in {stage} after {:.1} s{said}", timeout.as_secs_f64()),
        ),
        End::Exited(status) => match (status.signal(), status.code()) {
            (Some(libc::SIGKILL), _) => (
                RunStatus::Crash,
                "signal:SIGKILL".to_owned(),
                format!("{role} was killed by SIGKILL in {stage} (the out-of-memory killer, or somebody)"),
            ),
            (Some(signal), _) => {
                let name = SIGNALS.iter().find(|(number, _)| *number == signal).map(|(_, name)| (*name).to_owned());
                let name = name.unwrap_or_else(|| format!("signal {signal}"));
                (RunStatus::Crash, format!("signal:{name}"), format!("{role} died of {name} in {stage}{said}"))
            }
            (None, Some(FAULT_EXIT)) => {
                let line = stderr_tail.last().map_or("a kernel fault without a report", String::as_str);
                (RunStatus::Crash, "fault".to_owned(), format!("{line} (in {stage})"))
            }
            (None, Some(0)) => {
                (RunStatus::Crash, "exit:0".to_owned(), format!("{role} ended in {stage} without a result{said}"))
            }
            (None, code) => {
                let code = code.unwrap_or(-1);
                (
                    RunStatus::Crash,
                    format!("exit:{code}"),
                    format!("{role} ended with exit code {code} in {stage}{said}"),
                )
            }
        },
    };
    RunFailure { status, reason, message, stderr_tail }
}

/// A failure that the launcher itself reported.
pub(super) fn reported(failure: LaunchFailure, stderr_tail: Vec<String>) -> RunFailure {
    let (status, reason) = match failure.kind {
        LaunchFailureKind::Oom => (RunStatus::Oom, "oom"),
        LaunchFailureKind::Launch => (RunStatus::Crash, "launch"),
        LaunchFailureKind::Fault => (RunStatus::Crash, "fault"),
        LaunchFailureKind::Sharing => (RunStatus::Error, "sharing"),
        LaunchFailureKind::Environment => (RunStatus::Error, "environment"),
    };
    RunFailure { status, reason: reason.to_owned(), message: failure.message, stderr_tail }
}

pub(super) fn stage_name(stage: Option<Stage>) -> &'static str {
    match stage {
        None => "start",
        Some(Stage::Load) => "load",
        Some(Stage::Forward) => "forward",
        Some(Stage::Backward) => "backward",
        Some(Stage::Timing) => "timing",
    }
}
