//! The judge's side of both roles: what a child said or how it died, as a value or a [`Fault`].

use std::time::Duration;

use super::child::{self, End, Finished, INPUTS_FD, OUTPUTS_FD};
use super::{CaseMemory, wire};
use crate::model::{
    Fault, LaunchFailureKind, LaunchReport, LaunchRequest, LauncherFrame, Plan, PlanErrorKind, PlanReply, PlanRequest, Stage,
    Status,
};
use crate::plan;

/// The exit code with which the cpu runtime ends a launcher after it has said why.
const FAULT_EXIT: i32 = 70;

/// Runs a planner and checks what it answers.
pub fn run_plan(request: &PlanRequest, timeout: Duration) -> Result<Plan, Fault> {
    let done: Finished<PlanReply> = spawn("__plan", request, Vec::new(), timeout)?;
    let mut frames = done.frames.into_iter();
    match (frames.next(), frames.next()) {
        (Some(PlanReply::Plan(plan)), None) if done.wire.is_none() => match plan::check(&plan, &request.signature) {
            Ok(()) => Ok(plan),
            Err(reason) => Err(Fault::new(Status::Crash, "bad-plan", format!("the plan is refused: {reason}"))),
        },
        (Some(PlanReply::Error(error)), None) if done.wire.is_none() => {
            let (status, code) = match error.kind {
                PlanErrorKind::Candidate => (Status::Crash, "candidate"),
                PlanErrorKind::Compile => (Status::Crash, "compile"),
                PlanErrorKind::Launch => (Status::Crash, "launch"),
                PlanErrorKind::Oom => (Status::Oom, "out-of-memory"),
                PlanErrorKind::Environment => (Status::Error, "environment"),
            };
            Err(Fault::new(status, code, error.message).with_detail(&error.detail))
        }
        _ => {
            let name = request.candidate.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Err(death(&done.end, &done.output, &format!("while {name} was being planned")))
        }
    }
}

/// Runs a launcher over `memory`. On success the outputs of the timed launches are in it.
pub fn run_launch(request: &LaunchRequest, memory: &CaseMemory, timeout: Duration) -> Result<LaunchReport, Fault> {
    let [inputs, outputs] = memory.files().map_err(|error| start_fault(&error))?;
    let done: Finished<LauncherFrame> =
        spawn("__launch", request, vec![(inputs, INPUTS_FD), (outputs, OUTPUTS_FD)], timeout)?;
    let mut stage = None;
    let mut last = None;
    for frame in done.frames {
        match frame {
            // Nothing may follow the answer.
            _ if last.is_some() => return Err(protocol("more than one answer")),
            LauncherFrame::Stage(next) => stage = Some(next),
            answer => last = Some(answer),
        }
    }
    let reps = request.schedule.reps as usize;
    match last {
        Some(LauncherFrame::Done(report)) if done.end == End::Exit(0) && done.wire.is_none() => {
            let backward = if request.backward { reps } else { 0 };
            if report.forward.len() == reps && report.backward.len() == backward {
                Ok(report)
            } else {
                Err(protocol("a report with another number of samples than was asked for"))
            }
        }
        Some(LauncherFrame::Failed(failure)) if done.end == End::Exit(0) => {
            let (status, code) = match failure.kind {
                LaunchFailureKind::Oom => (Status::Oom, "out-of-memory"),
                LaunchFailureKind::Launch => (Status::Crash, "launch"),
                LaunchFailureKind::Environment => (Status::Error, "environment"),
            };
            Err(Fault::new(status, code, failure.message))
        }
        _ => Err(death(&done.end, &done.output, place(stage))),
    }
}

fn spawn<T: serde::de::DeserializeOwned + Send + 'static>(
    role: &str,
    request: &impl serde::Serialize,
    files: Vec<(std::os::fd::OwnedFd, i32)>,
    timeout: Duration,
) -> Result<Finished<T>, Fault> {
    let mut frame = Vec::new();
    wire::write(&mut frame, request)
        .map_err(|error| Fault::new(Status::Error, "protocol", format!("the request cannot be sent: {error}")))?;
    child::role(role).and_then(|command| child::run(command, frame, files, timeout)).map_err(|error| start_fault(&error))
}

fn start_fault(error: &std::io::Error) -> Fault {
    Fault::new(Status::Error, "spawn", format!("cannot start a child process: {error}"))
}

fn protocol(what: &str) -> Fault {
    Fault::new(Status::Crash, "protocol", format!("the launcher sent {what}"))
}

/// Where a launcher was when it died.
fn place(stage: Option<Stage>) -> &'static str {
    match stage {
        None => "before it read its request",
        Some(Stage::Load) => "while loading",
        Some(Stage::Forward) => "in forward",
        Some(Stage::Backward) => "in backward",
    }
}

/// A child that ended without an answer. What it printed last is quoted, as its own words.
fn death(end: &End, output: &[String], place: &str) -> Fault {
    let said = output.last().map(String::as_str);
    let words = said.map(|line| format!(": {line}")).unwrap_or_default();
    let mut fault = match end {
        End::Deadline(limit) => Fault::new(
            Status::Hang,
            "deadline",
            format!("no end after {:.1} s {place}{words} (killed; --timeout sets the limit)", limit.as_secs_f64()),
        ),
        End::Signal(signal) => {
            let hint = if *signal == libc::SIGKILL { " (the out-of-memory killer, or somebody)" } else { "" };
            Fault::new(Status::Crash, "signal", format!("killed by {}{hint} {place}{words}", signal_name(*signal)))
        }
        End::Exit(FAULT_EXIT) => Fault::new(Status::Crash, "fault", format!("{} ({place})", said.unwrap_or("a fault without words"))),
        End::Exit(code) => Fault::new(Status::Crash, "exit", format!("ended with exit code {code} {place} without an answer{words}")),
    };
    fault.detail = output.to_vec();
    fault
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGILL => "SIGILL",
        libc::SIGINT => "SIGINT",
        libc::SIGKILL => "SIGKILL",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGTERM => "SIGTERM",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGXCPU => "SIGXCPU",
        other => return format!("signal {other}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deaths_become_statuses_with_place_and_words() {
        let said = ["first".to_owned(), "kernel twice still running at k.cu:3".to_owned()];
        let hang = death(&End::Deadline(Duration::from_secs(2)), &said, place(Some(Stage::Backward)));
        assert_eq!((hang.status, hang.code), (Status::Hang, "deadline"));
        assert!(hang.reason.contains("2.0 s in backward: kernel twice still running at k.cu:3"), "{}", hang.reason);
        let killed = death(&End::Signal(libc::SIGKILL), &[], place(None));
        assert!(killed.reason.starts_with("killed by SIGKILL (the out-of-memory killer, or somebody)"), "{}", killed.reason);
        let fault = death(&End::Exit(70), &said, place(Some(Stage::Forward)));
        assert_eq!((fault.status, fault.reason.as_str()), (Status::Crash, "kernel twice still running at k.cu:3 (in forward)"));
        assert_eq!(death(&End::Exit(0), &[], place(None)).status, Status::Crash, "an end without an answer is no success");
    }
}
