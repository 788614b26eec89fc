//! The planner's two sides: the judge asks, a child answers with one plan or one error.

use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use super::supervise::{End, Listener, supervise};
use super::{death, spawn, wire};
use crate::device;
use crate::model::{Exit, Plan, PlanError, PlanErrorKind, PlanReply, PlanRequest, RunFailure};
use crate::plan;

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanFailure {
    /// The planner says what is wrong with the candidate or the environment.
    #[error(transparent)]
    Refused(#[from] PlanError),
    /// The planner died.
    #[error(transparent)]
    Died(#[from] RunFailure),
}

/// Runs the candidate in a planner of its own. The plan is checked against the request's signature.
pub fn run_plan(request: &PlanRequest, timeout: Duration) -> Result<Plan, PlanFailure> {
    run_plan_with(&spawn::this_program(), request, timeout)
}

/// As [`run_plan`], with `program` as the popcorn binary.
pub fn run_plan_with(program: &Path, request: &PlanRequest, timeout: Duration) -> Result<Plan, PlanFailure> {
    let environment = |message: String| {
        PlanFailure::Refused(PlanError { kind: PlanErrorKind::Environment, message, detail: String::new() })
    };
    let bytes = wire::encode(request).map_err(|error| environment(format!("plan request: {error}")))?;
    let ended = supervise(spawn::role(program, "__plan"), Vec::new(), &bytes, Reply::default(), timeout);
    match (ended.end, ended.heard.0) {
        (End::Exited(_), Some(PlanReply::Plan(found))) => match plan::check(&found, &request.signature) {
            Ok(()) => Ok(found),
            Err(why) => Err(PlanFailure::Died(RunFailure {
                status: crate::model::RunStatus::Crash,
                reason: "protocol".to_owned(),
                message: format!("planner sent an impossible plan: {why}"),
                stderr_tail: ended.stderr_tail,
            })),
        },
        (End::Exited(_), Some(PlanReply::Error(error))) => Err(error.into()),
        (end, _) => Err(death::failure("planner", "plan", end, timeout, ended.stderr_tail).into()),
    }
}

/// At most one reply.
#[derive(Default)]
struct Reply(Option<PlanReply>);

impl Listener for Reply {
    fn frame(&mut self, body: &[u8]) -> Result<(), wire::WireError> {
        if self.0.is_some() {
            return Err(wire::WireError::Schema("a second reply".to_owned()));
        }
        self.0 = Some(wire::decode(body)?);
        Ok(())
    }
}

/// The child: `popcorn __plan`.
pub fn plan_main() -> Exit {
    match serve() {
        Ok(()) => Exit::Keep,
        Err(message) => {
            eprintln!("popcorn __plan: {message}");
            Exit::Fault
        }
    }
}

fn serve() -> Result<(), String> {
    let request = spawn::take_fd(spawn::REQUEST_FD)?;
    let reply = spawn::take_fd(spawn::REPLY_FD)?;
    let request: PlanRequest = wire::receive(std::fs::File::from(request)).map_err(|error| error.to_string())?;
    let reply = std::fs::File::from(reply);
    let environment = |message: String| PlanError { kind: PlanErrorKind::Environment, message, detail: String::new() };
    let watch = watch_lua(&request, reply.try_clone().map_err(|error| error.to_string())?);
    let result = device::compiler(&request.target, &request.cache_dir)
        .map_err(environment)
        .and_then(|compiler| plan::plan(&request, compiler.as_ref(), || drop(watch)));
    let message = match result {
        Ok(plan) => PlanReply::Plan(plan),
        Err(error) => PlanReply::Error(error),
    };
    wire::send(&reply, &message).map_err(|error| error.to_string())
}

/// Ends the process when the candidate's Lua runs too long: no instruction hook reaches a loop inside a C function.
/// Dropping the sender ends the watch.
fn watch_lua(request: &PlanRequest, reply: std::fs::File) -> Sender<()> {
    let (sender, done) = channel::<()>();
    let path = &request.candidate;
    let file = path.strip_prefix(&request.root).unwrap_or(path).display().to_string();
    thread::spawn(move || {
        if done.recv_timeout(Duration::from_secs(plan::LUA_SECONDS)) == Err(RecvTimeoutError::Timeout) {
            let message = format!("{file}: the candidate's Lua was still running after {} s", plan::LUA_SECONDS);
            let error = PlanError { kind: PlanErrorKind::Candidate, message, detail: String::new() };
            // The judge sees a dead planner if this fails.
            let _ = wire::send(&reply, &PlanReply::Error(error));
            std::process::exit(Exit::Keep as i32);
        }
    });
    sender
}
