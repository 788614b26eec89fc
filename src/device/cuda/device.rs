//! [`CudaDevice`]: one GPU as a launcher sees it.

use std::time::Duration;

use cudarc::driver::result;
use cudarc::driver::sys::{CUevent, CUstream};

use super::cublas::Cublas;
use super::driver::{Context, Gpu};
use super::error::device_error;
use super::graph::{self, Command};
use super::memory::{Memory, Opened};
use super::module::Loaded;
use super::probes::Probes;
use super::visit;
use crate::device::arguments::{Buffers, Place, launch_error};
use crate::device::{
    Access, BoundNode, BufferId, Device, DeviceError, DeviceErrorKind, GraphId, ModuleId, Shared, Step,
};
use crate::model::{DeviceInfo, Module, TimerInfo};

/// A context, a stream, and what was loaded and recorded. Nothing is freed: the process ends with its request.
pub struct CudaDevice {
    context: Context,
    compiler: String,
    pub(super) stream: CUstream,
    pub(super) probes: Probes,
    pub(super) cublas: Option<Cublas>,
    pub(super) events: Vec<CUevent>,
    pub(super) graphs: Vec<Vec<Command>>,
    /// Multiprocessor clock over the last visit.
    pub(super) sm_mhz: Option<f64>,
    buffers: Vec<Memory>,
    modules: Vec<Loaded>,
    opened: Opened,
}

impl CudaDevice {
    /// Opens a GPU by number. `compiler` is for the record: what made the artifacts.
    pub fn open(ordinal: u32, compiler: String) -> Result<Self, String> {
        let context = Context::open(ordinal)?;
        let stream = result::stream::create(result::stream::StreamKind::NonBlocking)
            .map_err(|error| device_error("no stream", error).message)?;
        let probes =
            Probes::load(&context.gpu).map_err(|error| device_error("popcorn's own kernels", error).message)?;
        Ok(Self {
            context,
            compiler,
            stream,
            probes,
            cublas: None,
            events: Vec::new(),
            graphs: Vec::new(),
            sm_mhz: None,
            buffers: Vec::new(),
            modules: Vec::new(),
            opened: Opened::default(),
        })
    }

    pub(super) fn gpu(&self) -> &Gpu {
        &self.context.gpu
    }

    pub(super) fn module(&self, id: ModuleId) -> Result<&Loaded, DeviceError> {
        self.modules.get(id.0 as usize).ok_or_else(|| launch_error(format!("no module {}", id.0)))
    }

    pub(super) fn graph(&self, id: GraphId) -> Result<&[Command], DeviceError> {
        self.graphs.get(id.0 as usize).map(Vec::as_slice).ok_or_else(|| launch_error(format!("no graph {}", id.0)))
    }

    pub(super) fn memory(&self, id: BufferId) -> Result<&Memory, DeviceError> {
        self.buffers.get(id.0 as usize).ok_or_else(|| launch_error(format!("no buffer {}", id.0)))
    }

    fn keep(&mut self, memory: Memory) -> BufferId {
        self.buffers.push(memory);
        BufferId(self.buffers.len() as u32 - 1)
    }

    /// Waits until the stream is empty. `what` ran last.
    pub(super) fn wait(&self, what: &str) -> Result<(), DeviceError> {
        // SAFETY: the stream lives as long as the device.
        unsafe { result::stream::synchronize(self.stream) }.map_err(|error| device_error(what, error))
    }
}

impl Buffers for CudaDevice {
    fn place(&self, id: BufferId) -> Result<Place<'_>, DeviceError> {
        let memory = self.memory(id)?;
        Ok(Place { name: &memory.name, start: memory.address, bytes: memory.bytes, access: memory.access })
    }
}

impl Device for CudaDevice {
    fn describe(&self) -> DeviceInfo {
        self.gpu().describe(self.compiler.clone())
    }

    fn available(&self) -> u64 {
        result::mem_get_info().map_or(0, |(free, _)| free as u64)
    }

    fn alloc(&mut self, name: &str, bytes: u64) -> Result<BufferId, DeviceError> {
        let memory = Memory::private(name, bytes)?;
        Ok(self.keep(memory))
    }

    fn import(
        &mut self,
        name: &str,
        shared: Shared<'_>,
        offset: u64,
        bytes: u64,
        access: Access,
    ) -> Result<BufferId, DeviceError> {
        let memory = match shared {
            Shared::File(file) => Memory::copied(name, file, offset, bytes, access)?,
            Shared::Ipc(handle) => Memory::opened(name, self.opened.base(handle)?, offset, bytes, access),
        };
        Ok(self.keep(memory))
    }

    fn load(&mut self, module: &Module) -> Result<ModuleId, DeviceError> {
        self.modules.push(Loaded::open(module)?);
        Ok(ModuleId(self.modules.len() as u32 - 1))
    }

    fn record(&mut self, nodes: &[BoundNode]) -> Result<GraphId, DeviceError> {
        if self.cublas.is_none() && nodes.iter().any(|node| matches!(node, BoundNode::Matmul { .. })) {
            self.cublas = Some(Cublas::open(self.stream)?);
        }
        let commands = graph::record(self, nodes)?;
        self.graphs.push(commands);
        Ok(GraphId(self.graphs.len() as u32 - 1))
    }

    fn rehearse(&mut self, graph: GraphId) -> Result<(), DeviceError> {
        for command in self.graph(graph)? {
            command.enqueue(self.stream, self.cublas.as_ref())?;
            self.wait(&command.name())?;
        }
        Ok(())
    }

    fn perform(&mut self, steps: &[Step]) -> Result<Vec<Duration>, DeviceError> {
        visit::perform(self, steps)
    }

    fn timer(&mut self) -> Result<Option<TimerInfo>, DeviceError> {
        let sm_mhz = self.sm_mhz;
        let empty = vec![Step::Timed(Vec::new()); 64];
        let pairs: Vec<u64> = self.perform(&empty)?.iter().map(|pair| pair.as_nanos() as u64).collect();
        let mut sorted = pairs.clone();
        sorted.sort_unstable();
        let median = sorted.get(sorted.len() / 2).copied().unwrap_or_default();
        Ok(Some(TimerInfo { tick_ns: pairs.iter().copied().fold(0, gcd), empty_pair_ns: median, sm_mhz }))
    }

    fn finish(&mut self) -> Result<(), DeviceError> {
        self.buffers.iter().try_for_each(Memory::write_back)
    }
}

/// Greatest common divisor; 0 is neutral.
fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// An environment error, for what popcorn itself got wrong.
pub(super) fn broken(message: &str) -> DeviceError {
    DeviceError { kind: DeviceErrorKind::Environment, message: message.to_owned() }
}
