//! The launcher's two sides: the judge hands over a plan and memory, a fresh child replays and times it.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use super::supervise::{End, Listener, supervise};
use super::{CaseMemory, death, spawn, wire};
use crate::device::{
    self, Access, BoundArg, BoundNode, BufferId, Device, DeviceError, DeviceErrorKind, GraphId, ModuleId, Shared,
};
use crate::model::{
    Arg, BufferRef, Exit, LaunchFailure, LaunchFailureKind, LaunchReport, LaunchRequest, LauncherFrame, Node, Plan,
    Region, Role, RunFailure, RunOutcome, RunStatus, Stage,
};
use crate::plan;
use crate::timing::{self, Set};

/// Replays and times a plan in a launcher of its own, on the case's memory. Outputs and gradients then lie in `memory`
/// as the last timed launch on each set left them.
pub fn run_launch(request: &LaunchRequest, memory: &CaseMemory, timeout: Duration) -> RunOutcome {
    run_launch_with(&spawn::this_program(), request, memory, timeout)
}

/// As [`run_launch`], with `program` as the popcorn binary.
pub fn run_launch_with(program: &Path, request: &LaunchRequest, memory: &CaseMemory, timeout: Duration) -> RunOutcome {
    let start = wire::encode(request)
        .map_err(|error| error.to_string())
        .and_then(|bytes| Ok((bytes, memory.files().map_err(|error| error.to_string())?)));
    let (bytes, files) = start.map_err(|why| RunFailure {
        status: RunStatus::Error,
        reason: "spawn".to_owned(),
        message: format!("launcher could not be started: {why}"),
        stderr_tail: Vec::new(),
    })?;
    let ended = supervise(spawn::role(program, "__launch"), files, &bytes, Progress::default(), timeout);
    let stage = death::stage_name(ended.heard.stage);
    match (ended.end, ended.heard.result) {
        (End::Exited(status), Some(Ok(report))) if status.success() => Ok(report),
        (End::Exited(status), Some(Err(failure))) if status.success() => {
            Err(death::reported(failure, ended.stderr_tail))
        }
        (end, _) => Err(death::failure("launcher", stage, end, timeout, ended.stderr_tail)),
    }
}

/// Stages, then exactly one result.
#[derive(Default)]
struct Progress {
    stage: Option<Stage>,
    result: Option<Result<LaunchReport, LaunchFailure>>,
}

impl Listener for Progress {
    fn frame(&mut self, body: &[u8]) -> Result<(), wire::WireError> {
        if self.result.is_some() {
            return Err(wire::WireError::Schema("a frame after the result".to_owned()));
        }
        match wire::decode(body)? {
            LauncherFrame::Stage(stage) => self.stage = Some(stage),
            LauncherFrame::Done(report) => self.result = Some(Ok(report)),
            LauncherFrame::Failed(failure) => self.result = Some(Err(failure)),
        }
        Ok(())
    }
}

/// The child: `popcorn __launch`.
pub fn launch_main() -> Exit {
    match serve() {
        Ok(()) => Exit::Keep,
        Err(message) => {
            eprintln!("popcorn __launch: {message}");
            Exit::Fault
        }
    }
}

fn serve() -> Result<(), String> {
    let request = File::from(spawn::take_fd(spawn::REQUEST_FD)?);
    let reply = File::from(spawn::take_fd(spawn::REPLY_FD)?);
    let request: LaunchRequest = wire::receive(request).map_err(|error| error.to_string())?;
    let files: Option<[OwnedFd; 2]> = match request.handles {
        None => Some([spawn::take_fd(spawn::INPUTS_FD)?, spawn::take_fd(spawn::OUTPUTS_FD)?]),
        Some(_) => None,
    };
    let send = |frame: &LauncherFrame| wire::send(&reply, frame).map_err(|error| error.to_string());
    send(&LauncherFrame::Stage(Stage::Load))?;
    let opened = plan::check_structure(&request.plan).and_then(|()| device::open(&request.device, &request.plan));
    let result = match opened {
        Ok(mut device) => {
            let shared = match (&request.handles, &files) {
                (Some([inputs, outputs]), _) => [Shared::Ipc(inputs), Shared::Ipc(outputs)],
                (None, Some([inputs, outputs])) => [Shared::File(inputs.as_fd()), Shared::File(outputs.as_fd())],
                (None, None) => return Err("no memory was given".to_owned()),
            };
            launch(&request, device.as_mut(), shared, &mut |stage| {
                // A judge that is gone has taken this process with it.
                let _ = send(&LauncherFrame::Stage(stage));
            })
        }
        Err(message) => Err(LaunchFailure { kind: LaunchFailureKind::Environment, message }),
    };
    send(&result.map_or_else(LauncherFrame::Failed, LauncherFrame::Done))
}

/// Loads, binds, records and times. `memory` is that of the inputs and of the outputs.
pub(super) fn launch(
    request: &LaunchRequest,
    device: &mut dyn Device,
    memory: [Shared<'_>; 2],
    stage: &mut dyn FnMut(Stage),
) -> Result<LaunchReport, LaunchFailure> {
    let plan = &request.plan;
    let scratch_bytes = check_scratch(plan, request.schedule.sets, device.available())?;
    let modules =
        plan.modules.iter().map(|module| device.load(module)).collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let backward = request.backward && !plan.backward.is_empty();
    let mut sets = Vec::new();
    for set in 0..request.schedule.sets {
        let bound = buffers(request, set, device, memory)?;
        let mut record = |nodes: &[Node]| -> Result<GraphId, LaunchFailure> {
            let nodes: Vec<_> = nodes.iter().map(|node| bind(node, &bound, &modules)).collect();
            device.record(&nodes).map_err(failed)
        };
        let forward = record(&plan.forward)?;
        let backward = backward.then(|| record(&plan.backward)).transpose()?;
        let with_role = |wanted: fn(&Role) -> bool| {
            plan.buffers.iter().zip(&bound).filter(|(buffer, _)| wanted(&buffer.role)).map(|(_, id)| *id).collect()
        };
        let outputs = with_role(|role| matches!(role, Role::Output { .. }));
        let gradients = with_role(|role| matches!(role, Role::Grad { .. }));
        let scratch = with_role(|role| *role == Role::Scratch);
        sets.push(Set { forward, backward, outputs, gradients, scratch });
    }
    let times = timing::measure(device, &sets, &request.schedule, stage).map_err(failed)?;
    let timer = device.timer().map_err(failed)?;
    device.finish().map_err(failed)?;
    let device = device.describe();
    Ok(LaunchReport { device, forward: times.forward, backward: times.backward, scratch_bytes, timer })
}

/// The scratch of all sets must fit in what is free now; an allocation that is only touched later would end in SIGKILL.
/// Gives the bytes of one set.
fn check_scratch(plan: &Plan, sets: u32, available: u64) -> Result<u64, LaunchFailure> {
    let sizes = plan.buffers.iter().filter(|buffer| buffer.role == Role::Scratch).map(|buffer| buffer.bytes());
    let one = sizes.fold(0u64, u64::saturating_add);
    let needed = one.saturating_mul(u64::from(sets));
    if needed > available / 10 * 9 {
        let message =
            format!("the plan needs {one} bytes of scratch memory for each of {sets} sets, {available} are available");
        return Err(LaunchFailure { kind: LaunchFailureKind::Oom, message });
    }
    Ok(one)
}

/// The device's buffer for each of the plan's, in one set.
fn buffers(
    request: &LaunchRequest,
    set: u32,
    device: &mut dyn Device,
    memory: [Shared<'_>; 2],
) -> Result<Vec<BufferId>, LaunchFailure> {
    let mut bound = Vec::with_capacity(request.plan.buffers.len());
    for (index, buffer) in request.plan.buffers.iter().enumerate() {
        let (region, access) = match buffer.role {
            Role::Scratch => {
                bound.push(device.alloc(&buffer.name, buffer.bytes()).map_err(failed)?);
                continue;
            }
            Role::Input { .. } | Role::Cotangent { .. } => (Region::Inputs, Access::Read),
            Role::Output { .. } | Role::Grad { .. } => (Region::Outputs, Access::ReadWrite),
        };
        let shared = request.shared.iter().find(|shared| shared.set == set && shared.buffer as usize == index);
        let fitting = shared.filter(|one| one.region == region && one.bytes == buffer.bytes());
        let shared = fitting.ok_or_else(|| LaunchFailure {
            kind: LaunchFailureKind::Environment,
            message: format!("no memory for '{}' of set {set} in the request", buffer.name),
        })?;
        let memory = memory[usize::from(region == Region::Outputs)];
        bound.push(device.import(&buffer.name, memory, shared.offset, shared.bytes, access).map_err(failed)?);
    }
    Ok(bound)
}

/// A node with its buffers and modules resolved. Indices were checked with the plan.
fn bind(node: &Node, buffers: &[BufferId], modules: &[ModuleId]) -> BoundNode {
    let place = |place: &BufferRef| (buffers[place.buffer as usize], place.byte_offset);
    match node {
        Node::Launch { module, kernel, grid, block, shared_bytes, args, .. } => BoundNode::Launch {
            module: modules[*module as usize],
            kernel: *kernel,
            grid: *grid,
            block: *block,
            shared_bytes: *shared_bytes,
            args: args
                .iter()
                .map(|arg| match arg {
                    Arg::Buffer(reference) => {
                        BoundArg::Buffer(buffers[reference.buffer as usize], reference.byte_offset)
                    }
                    Arg::Null => BoundArg::Null,
                    Arg::Scalar(value) => BoundArg::Scalar(*value),
                })
                .collect(),
        },
        Node::Fill { buffer, value, .. } => BoundNode::Fill { buffer: buffers[*buffer as usize], value: *value },
        Node::Copy { src, dst, bytes, .. } => BoundNode::Copy { src: place(src), dst: place(dst), bytes: *bytes },
        Node::Matmul { a, b, out, dtype, m, n, k, batch, trans_a, trans_b, .. } => BoundNode::Matmul {
            a: place(a),
            b: place(b),
            out: place(out),
            dtype: *dtype,
            m: *m,
            n: *n,
            k: *k,
            batch: *batch,
            trans_a: *trans_a,
            trans_b: *trans_b,
        },
    }
}

fn failed(error: DeviceError) -> LaunchFailure {
    let kind = match error.kind {
        DeviceErrorKind::Oom => LaunchFailureKind::Oom,
        DeviceErrorKind::Launch => LaunchFailureKind::Launch,
        DeviceErrorKind::Fault => LaunchFailureKind::Fault,
        DeviceErrorKind::Sharing => LaunchFailureKind::Sharing,
        DeviceErrorKind::Environment => LaunchFailureKind::Environment,
    };
    LaunchFailure { kind, message: error.message }
}
