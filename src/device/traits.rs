//! The two device traits and the types in their signatures.

use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::time::Duration;

use crate::model::{DType, DeviceInfo, IpcHandle, Module, ScalarValue, TimerInfo};

/// Compiles CUDA C++ for one kind of device, through a cache on disk.
pub trait Compiler {
    /// Compiles (or finds in the cache) one file with the given kernel instances.
    fn compile(&self, job: &CompileJob) -> Result<Module, CompileError>;
    /// Compiler and version, as the record shows it.
    fn describe(&self) -> String;
}

/// One `.cu` file, its options and the instances asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileJob {
    pub source: PathBuf,
    /// `-DNAME=VALUE`, `-I DIR` (relative to the source's folder), `--use_fast_math`; anything else is refused.
    pub options: Vec<String>,
    /// CUDA name expressions: `saxpy`, `rms_norm_fwd<__nv_bfloat16>`.
    pub kernels: Vec<String>,
    pub cache_dir: PathBuf,
}

/// `message` is one line that starts with `file:line:` where there is one; `log` is the compiler's own text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CompileError {
    pub kind: CompileErrorKind,
    pub message: String,
    pub log: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompileErrorKind {
    /// The source is at fault (syntax, missing symbol, a CUDA feature this device cannot run).
    Source,
    /// No compiler, cache not writable, disk full, compiler crashed.
    Environment,
}

/// A device buffer, private to the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BufferId(pub u32);
/// A loaded artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ModuleId(pub u32);
/// A recorded sequence of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GraphId(pub u32);

/// What kernels may do with imported memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
    ReadWrite,
}

/// The judge's memory, as a launcher sees it.
#[derive(Debug, Clone, Copy)]
pub enum Shared<'a> {
    /// A memory file.
    File(BorrowedFd<'a>),
    /// An allocation of another process on the same GPU.
    Ipc(&'a IpcHandle),
}

/// One step of a visit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Overwrites a buffer with 0xFF bytes.
    Poison(BufferId),
    /// Evicts what came before from the device's caches.
    Flush,
    /// Runs graphs in order, untimed.
    Run(Vec<GraphId>),
    /// Runs graphs in order between two events.
    Timed(Vec<GraphId>),
}

/// A kernel argument with its buffer resolved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BoundArg {
    Buffer(BufferId, u64),
    Null,
    Scalar(ScalarValue),
}

/// A plan node with its buffers resolved.
#[derive(Debug, Clone, PartialEq)]
pub enum BoundNode {
    Launch {
        module: ModuleId,
        kernel: u32,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
        args: Vec<BoundArg>,
    },
    Fill {
        buffer: BufferId,
        value: ScalarValue,
    },
    Copy {
        src: (BufferId, u64),
        dst: (BufferId, u64),
        bytes: u64,
    },
    /// See [`crate::model::Node::Matmul`].
    Matmul {
        a: (BufferId, u64),
        b: (BufferId, u64),
        out: (BufferId, u64),
        dtype: DType,
        m: u64,
        n: u64,
        k: u64,
        batch: u64,
        trans_a: bool,
        trans_b: bool,
    },
}

/// Runs recorded work. One value per process; not shared between threads.
pub trait Device {
    fn describe(&self) -> DeviceInfo;

    /// Private memory, filled with 0xFF bytes (a NaN in every float type). `name` is for fault messages.
    fn alloc(&mut self, name: &str, bytes: u64) -> Result<BufferId, DeviceError>;

    /// Bytes that [`Device::alloc`] can still give, about.
    fn available(&self) -> u64;

    /// Maps `bytes` at `offset` (a multiple of 16) of memory that the judge owns. The pages that hold the range hold
    /// nothing else; the data ends at a page end (rounded up to 16), so that on the host an overrun meets a guard page.
    fn import(
        &mut self,
        name: &str,
        shared: Shared<'_>,
        offset: u64,
        bytes: u64,
        access: Access,
    ) -> Result<BufferId, DeviceError>;

    fn load(&mut self, module: &Module) -> Result<ModuleId, DeviceError>;

    /// Checks and fixes a sequence of nodes for cheap replay.
    fn record(&mut self, nodes: &[BoundNode]) -> Result<GraphId, DeviceError>;

    /// Runs a graph once, node by node, so that a fault names its kernel.
    fn rehearse(&mut self, graph: GraphId) -> Result<(), DeviceError>;

    /// Runs steps in order, as one piece of work without the host in between where the device can; one duration per
    /// [`Step::Timed`].
    fn perform(&mut self, steps: &[Step]) -> Result<Vec<Duration>, DeviceError>;

    /// How the timer and the processors' clock behaved; None where the host's clock is the timer.
    fn timer(&mut self) -> Result<Option<TimerInfo>, DeviceError> {
        Ok(None)
    }

    /// Makes everything written to imported memory visible to the judge.
    fn finish(&mut self) -> Result<(), DeviceError>;
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DeviceError {
    pub kind: DeviceErrorKind,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceErrorKind {
    /// Memory cannot be had.
    Oom,
    /// The device refuses a launch.
    Launch,
    /// A kernel did what ends its process or its context.
    Fault,
    /// Memory of the judge cannot be mapped this way.
    Sharing,
    Environment,
}
