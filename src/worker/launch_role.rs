//! What a launcher does: map the judge's memory, replay the plan, time it. No interpreter, no truth, no tolerance.

use std::collections::HashMap;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};

use command_fds::inherited::{init_inherited_fds, take_fd_ownership};

use super::child::{INPUTS_FD, OUTPUTS_FD, REPLY_FD, REQUEST_FD};
use super::wire;
use crate::device::{self, Access, BoundArg, BoundNode, BufferId, Device, DeviceError, DeviceErrorKind, GraphId, ModuleId};
use crate::model::{
    Arg, BufferRef, Exit, LaunchFailure, LaunchFailureKind, LaunchReport, LaunchRequest, LauncherFrame, Node, Region, Role,
    Stage,
};
use crate::timing::{self, Draw};

/// The whole life of a launcher process.
pub fn launch_main() -> Exit {
    let Some([mut request, mut reply, inputs, outputs]) = inherited([REQUEST_FD, REPLY_FD, INPUTS_FD, OUTPUTS_FD]) else {
        eprintln!("popcorn __launch is started by popcorn itself; see popcorn loop try --help");
        return Exit::Usage;
    };
    let request: LaunchRequest = match wire::read(&mut request) {
        Ok(Some(request)) => request,
        Ok(None) => return Exit::Fault,
        Err(error) => {
            eprintln!("launch request: {error}");
            return Exit::Fault;
        }
    };
    let mut send = |frame: LauncherFrame| {
        // The judge is gone: so will we be, by its death signal.
        let _ = wire::write(&mut reply, &frame);
    };
    let last = match launch(&request, &inputs, &outputs, |stage| send(LauncherFrame::Stage(stage))) {
        Ok(report) => LauncherFrame::Done(report),
        Err(failure) => LauncherFrame::Failed(failure),
    };
    send(last);
    Exit::Keep
}

/// The files that the judge passed at these numbers; None when this process was not started by a judge.
pub(super) fn inherited<const N: usize>(numbers: [i32; N]) -> Option<[File; N]> {
    // SAFETY: called once, at the start of a child's main, before any other file is opened.
    unsafe { init_inherited_fds() };
    let files: Option<Vec<File>> = numbers.iter().map(|&fd| take_fd_ownership(fd).ok().map(File::from)).collect();
    files?.try_into().ok()
}

impl From<DeviceError> for LaunchFailure {
    fn from(error: DeviceError) -> Self {
        let kind = match error.kind {
            DeviceErrorKind::Oom => LaunchFailureKind::Oom,
            DeviceErrorKind::Launch => LaunchFailureKind::Launch,
            DeviceErrorKind::Environment => LaunchFailureKind::Environment,
        };
        Self { kind, message: error.message }
    }
}

/// A request that does not fit together is the judge's mistake, never the candidate's.
fn malformed(what: &str) -> LaunchFailure {
    LaunchFailure { kind: LaunchFailureKind::Environment, message: format!("launch request: {what}") }
}

fn launch(
    request: &LaunchRequest,
    inputs: &File,
    outputs: &File,
    mut stage: impl FnMut(Stage),
) -> Result<LaunchReport, LaunchFailure> {
    stage(Stage::Load);
    let plan = &request.plan;
    let mut device = device::open(&request.device)?;
    let mut modules = Vec::with_capacity(plan.modules.len());
    for module in &plan.modules {
        modules.push(device.load(module)?);
    }
    // Scratch is shared by all draws: backward follows its own forward.
    let mut scratch = HashMap::new();
    let mut scratch_bytes = 0u64;
    for (index, buffer) in plan.buffers.iter().enumerate() {
        if buffer.role == Role::Scratch {
            scratch.insert(index as u32, device.alloc(&buffer.name, buffer.bytes())?);
            scratch_bytes = scratch_bytes.saturating_add(buffer.bytes());
        }
    }
    let mut draws = Vec::with_capacity(request.schedule.draws as usize);
    for draw in 0..request.schedule.draws {
        let mut buffers = scratch.clone();
        let mut written = Vec::new();
        for shared in request.shared.iter().filter(|shared| shared.draw == draw) {
            let buffer = plan.buffers.get(shared.buffer as usize).ok_or_else(|| malformed("a buffer that the plan lacks"))?;
            if buffer.bytes() != shared.bytes {
                return Err(malformed("a buffer of another size than the plan's"));
            }
            let (file, access) = match shared.region {
                Region::Inputs => (inputs, Access::Read),
                Region::Outputs => (outputs, Access::ReadWrite),
            };
            let id = device.import(&buffer.name, file.as_fd(), shared.offset, shared.bytes, access)?;
            buffers.insert(shared.buffer, id);
            if shared.region == Region::Outputs {
                written.push(id);
            }
        }
        let bound = Bindings { modules: &modules, buffers: &buffers };
        draws.push(Draw {
            forward: bound.record(device.as_mut(), &plan.forward)?,
            backward: if request.backward { Some(bound.record(device.as_mut(), &plan.backward)?) } else { None },
            outputs: written,
        });
    }
    let samples = timing::run(device.as_mut(), &draws, request.schedule, stage)?;
    Ok(LaunchReport {
        device: device.describe(),
        forward: samples.forward,
        backward: samples.backward,
        scratch_bytes,
    })
}

/// A plan's numbers as this process's device knows them, for one draw.
struct Bindings<'a> {
    modules: &'a [ModuleId],
    buffers: &'a HashMap<u32, BufferId>,
}

impl Bindings<'_> {
    fn record(&self, device: &mut dyn Device, nodes: &[Node]) -> Result<GraphId, LaunchFailure> {
        let bound = nodes.iter().map(|node| self.node(node)).collect::<Result<Vec<_>, _>>()?;
        Ok(device.record(&bound)?)
    }

    fn buffer(&self, index: u32) -> Result<BufferId, LaunchFailure> {
        self.buffers.get(&index).copied().ok_or_else(|| malformed("a node with a buffer that is nowhere"))
    }

    fn place(&self, place: BufferRef) -> Result<(BufferId, u64), LaunchFailure> {
        Ok((self.buffer(place.buffer)?, place.byte_offset))
    }

    fn node(&self, node: &Node) -> Result<BoundNode, LaunchFailure> {
        Ok(match node {
            Node::Launch { module, kernel, grid, block, shared_bytes, args, .. } => BoundNode::Launch {
                module: *self.modules.get(*module as usize).ok_or_else(|| malformed("a launch of no module"))?,
                kernel: *kernel,
                grid: *grid,
                block: *block,
                shared_bytes: *shared_bytes,
                args: args.iter().map(|arg| self.arg(arg)).collect::<Result<_, _>>()?,
            },
            Node::Fill { buffer, value, .. } => BoundNode::Fill { buffer: self.buffer(*buffer)?, value: *value },
            Node::Copy { src, dst, bytes, .. } => {
                BoundNode::Copy { src: self.place(*src)?, dst: self.place(*dst)?, bytes: *bytes }
            }
            Node::Matmul { a, b, out, dtype, m, n, k, batch, trans_a, trans_b, .. } => BoundNode::Matmul {
                a: self.place(*a)?,
                b: self.place(*b)?,
                out: self.place(*out)?,
                dtype: *dtype,
                m: *m,
                n: *n,
                k: *k,
                batch: *batch,
                trans_a: *trans_a,
                trans_b: *trans_b,
            },
        })
    }

    fn arg(&self, arg: &Arg) -> Result<BoundArg, LaunchFailure> {
        Ok(match arg {
            Arg::Buffer(place) => {
                let (buffer, offset) = self.place(*place)?;
                BoundArg::Buffer(buffer, offset)
            }
            Arg::Null => BoundArg::Null,
            Arg::Scalar(value) => BoundArg::Scalar(*value),
        })
    }
}
