//! What a planner does: read a request, run the candidate in a bare VM, answer with a plan or the reason for none.

use super::child::{REPLY_FD, REQUEST_FD};
use super::launch_role::inherited;
use super::wire;
use crate::device;
use crate::model::{Exit, PlanError, PlanErrorKind, PlanReply, PlanRequest};
use crate::plan;

/// The whole life of a planner process.
pub fn plan_main() -> Exit {
    let Some([mut request, mut reply]) = inherited([REQUEST_FD, REPLY_FD]) else {
        eprintln!("popcorn __plan is started by popcorn itself; see popcorn loop try --help");
        return Exit::Usage;
    };
    let request: PlanRequest = match wire::read(&mut request) {
        Ok(Some(request)) => request,
        Ok(None) => return Exit::Fault,
        Err(error) => {
            eprintln!("plan request: {error}");
            return Exit::Fault;
        }
    };
    let answer = match device::compiler(&request.device, &request.cache_dir) {
        Ok(compiler) => plan::run(&request, compiler.as_ref()),
        Err(error) => PlanReply::Error(environment(error.to_string())),
    };
    let sent = wire::write(&mut reply, &answer)
        // A plan too large to send: say so instead.
        .or_else(|error| wire::write(&mut reply, &PlanReply::Error(environment(format!("the plan cannot be sent: {error}")))));
    if sent.is_ok() { Exit::Keep } else { Exit::Fault }
}

fn environment(message: String) -> PlanError {
    PlanError { kind: PlanErrorKind::Environment, message, detail: String::new() }
}
