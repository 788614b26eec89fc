//! [`CpuDevice`]: buffers, modules and graphs of one process.

use std::time::{Duration, Instant};

use super::graph::{Graph, Step};
use super::memory::{self, Memory, gib};
use super::module::Loaded;
use super::simt::Workers;
use super::{fault, host, matmul};
use crate::device::arguments::{Buffers, Place, launch_error};
use crate::device::{
    Access, BoundNode, BufferId, Device, DeviceError, DeviceErrorKind, GraphId, ModuleId, Shared, Step as VisitStep,
    host_memory,
};
use crate::model::{DeviceInfo, Module};

/// The embedded device. One value per process: faults in kernels end the process.
pub struct CpuDevice {
    buffers: Vec<Memory>,
    modules: Vec<Loaded>,
    graphs: Vec<Graph>,
    workers: Workers,
    compiler: String,
    budget: u64,
    used: u64,
    flush: Vec<u8>,
}

impl CpuDevice {
    /// Installs the fault handlers of the process. `compiler` is for the record: what made the artifacts.
    pub fn new(compiler: String) -> Self {
        fault::install();
        Self {
            buffers: Vec::new(),
            modules: Vec::new(),
            graphs: Vec::new(),
            workers: Workers::new(host::cores()),
            compiler,
            budget: memory::budget(),
            used: 0,
            flush: Vec::new(),
        }
    }

    pub(super) fn buffer(&self, id: BufferId) -> Result<&Memory, DeviceError> {
        self.buffers.get(id.0 as usize).ok_or_else(|| launch_error(format!("no buffer {}", id.0)))
    }

    pub(super) fn module(&self, id: ModuleId) -> Result<&Loaded, DeviceError> {
        self.modules.get(id.0 as usize).ok_or_else(|| launch_error(format!("no module {}", id.0)))
    }

    fn run(&mut self, graph: GraphId) -> Result<(), DeviceError> {
        let graph = self.graphs.get(graph.0 as usize).ok_or_else(|| launch_error(format!("no graph {}", graph.0)))?;
        for step in &graph.steps {
            // SAFETY: recorded from checked nodes; buffers and modules live as long as the device.
            unsafe {
                match step {
                    Step::Launch(launch) => self.workers.run(launch),
                    Step::Fill(fill) => fill.run(),
                    Step::Copy { src, dst, bytes } => std::ptr::copy(*src, *dst, *bytes),
                    Step::Matmul(product) => matmul::run(product),
                }
            }
        }
        Ok(())
    }

    fn flush_caches(&mut self) {
        if self.flush.is_empty() {
            // Twice the cache evicts it; every further MiB only costs page faults, about 1 ms each in a fresh process.
            self.flush = vec![0; 2 * host::cache_bytes()];
        }
        for line in self.flush.chunks_mut(64) {
            line[0] = line[0].wrapping_add(1);
        }
        std::hint::black_box(&self.flush);
    }

    fn poison(&self, buffer: BufferId) -> Result<(), DeviceError> {
        let memory = self.buffer(buffer)?;
        if memory.access == Access::Read {
            return Err(launch_error(format!("buffer '{}' is read-only and cannot be poisoned", memory.name)));
        }
        memory.poison();
        Ok(())
    }

    fn keep(&mut self, memory: Memory) -> BufferId {
        self.buffers.push(memory);
        BufferId(self.buffers.len() as u32 - 1)
    }
}

/// This machine as a device. `compiler` made, or would make, its artifacts.
pub fn describe(compiler: String) -> DeviceInfo {
    let threads = host::cores();
    DeviceInfo {
        kind: "cpu".to_owned(),
        name: format!("cpu: {} ({threads} threads)", host::cpu_name()),
        memory_bytes: host_memory::total(),
        processors: threads as u32,
        compiler,
    }
}

impl Buffers for CpuDevice {
    fn place(&self, id: BufferId) -> Result<Place<'_>, DeviceError> {
        let memory = self.buffer(id)?;
        Ok(Place {
            name: &memory.name,
            start: memory.start() as u64,
            bytes: memory.bytes as u64,
            access: memory.access,
        })
    }
}

impl Device for CpuDevice {
    fn describe(&self) -> DeviceInfo {
        describe(self.compiler.clone())
    }

    fn available(&self) -> u64 {
        host_memory::available()
    }

    fn alloc(&mut self, name: &str, bytes: u64) -> Result<BufferId, DeviceError> {
        if bytes > self.budget.saturating_sub(self.used) {
            return Err(DeviceError {
                kind: DeviceErrorKind::Oom,
                message: format!(
                    "buffer '{name}' needs {} but only {} of the device's {} are free",
                    gib(bytes),
                    gib(self.budget.saturating_sub(self.used)),
                    gib(self.budget)
                ),
            });
        }
        let memory = Memory::private(name, bytes as usize)?;
        self.used += bytes;
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
        let Shared::File(file) = shared else {
            return Err(DeviceError {
                kind: DeviceErrorKind::Sharing,
                message: format!("buffer '{name}': the cpu device shares memory through files"),
            });
        };
        let memory = Memory::shared(name, file, offset, bytes as usize, access)?;
        Ok(self.keep(memory))
    }

    fn load(&mut self, module: &Module) -> Result<ModuleId, DeviceError> {
        self.modules.push(Loaded::open(module)?);
        Ok(ModuleId(self.modules.len() as u32 - 1))
    }

    fn record(&mut self, nodes: &[BoundNode]) -> Result<GraphId, DeviceError> {
        let graph = Graph::record(self, nodes)?;
        self.graphs.push(graph);
        Ok(GraphId(self.graphs.len() as u32 - 1))
    }

    fn rehearse(&mut self, graph: GraphId) -> Result<(), DeviceError> {
        // A fault on this device names its kernel anyway.
        self.run(graph)
    }

    fn perform(&mut self, steps: &[VisitStep]) -> Result<Vec<Duration>, DeviceError> {
        let mut times = Vec::new();
        for step in steps {
            match step {
                VisitStep::Poison(buffer) => self.poison(*buffer)?,
                VisitStep::Flush => self.flush_caches(),
                VisitStep::Run(graphs) => graphs.iter().try_for_each(|graph| self.run(*graph))?,
                VisitStep::Timed(graphs) => {
                    let start = Instant::now();
                    graphs.iter().try_for_each(|graph| self.run(*graph))?;
                    times.push(start.elapsed());
                }
            }
        }
        Ok(times)
    }

    /// The files are mapped: nothing is left to do.
    fn finish(&mut self) -> Result<(), DeviceError> {
        Ok(())
    }
}
