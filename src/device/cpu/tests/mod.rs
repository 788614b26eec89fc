//! The device through its two traits: kernels under `tests/cuda`, compiled and run.

mod cache;
mod compile_errors;
mod device;
mod faults;
mod narrow;
mod primitives;
mod programs;

use std::path::{Path, PathBuf};

use super::{CpuCompiler, CpuDevice};
use crate::device::{BoundArg, BoundNode, BufferId, CompileError, CompileJob, Compiler, Device, GraphId, Step};
use crate::model::{Module, ScalarValue};

/// Compiled kernels of all tests: shared, so that a second run costs no compiler.
pub(super) fn cache_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target/simt-tests")
}

pub(super) fn compile_in(
    cache: &Path,
    source: &Path,
    kernels: &[&str],
    options: &[&str],
) -> Result<Module, CompileError> {
    CpuCompiler::new(cache)?.compile(&CompileJob {
        source: source.to_owned(),
        options: options.iter().map(|option| (*option).to_owned()).collect(),
        kernels: kernels.iter().map(|kernel| (*kernel).to_owned()).collect(),
        cache_dir: cache.to_owned(),
    })
}

pub(super) fn compile(file: &str, kernels: &[&str]) -> Module {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cuda").join(file);
    compile_in(&cache_dir(), &source, kernels, &[]).unwrap_or_else(|error| panic!("{error}\n{}", error.log))
}

/// A device with typed access to its buffers.
pub(super) struct Bench {
    pub(super) device: CpuDevice,
}

impl Bench {
    pub(super) fn new() -> Self {
        Self { device: CpuDevice::new("test".to_owned()) }
    }

    pub(super) fn upload<T: bytemuck::Pod>(&mut self, name: &str, values: &[T]) -> BufferId {
        let id = self.device.alloc(name, size_of_val(values) as u64).unwrap();
        let start = self.device.buffer(id).unwrap().start();
        // SAFETY: the buffer has room for exactly these values.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), start.cast(), values.len()) };
        id
    }

    /// Runs kernel `index` over one-dimensional blocks and returns the last argument's buffer.
    pub(super) fn run<T: bytemuck::Pod>(
        &mut self,
        module: &Module,
        index: u32,
        grid: u32,
        block: u32,
        args: Vec<BoundArg>,
    ) -> Vec<T> {
        let out = args.iter().rev().find_map(|arg| if let BoundArg::Buffer(id, _) = arg { Some(*id) } else { None });
        self.launch(module, index, [grid, 1, 1], [block, 1, 1], 0, args);
        self.read(out.unwrap())
    }

    pub(super) fn read<T: bytemuck::Pod>(&self, id: BufferId) -> Vec<T> {
        let memory = self.device.buffer(id).unwrap();
        // SAFETY: mapped, initialised, aligned to 16.
        unsafe { std::slice::from_raw_parts(memory.start().cast::<T>(), memory.bytes / size_of::<T>()) }.to_vec()
    }

    /// Launches kernel `index` of `module` once.
    pub(super) fn launch(
        &mut self,
        module: &Module,
        index: u32,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
        args: Vec<BoundArg>,
    ) {
        let module = self.device.load(module).unwrap();
        let node = BoundNode::Launch { module, kernel: index, grid, block, shared_bytes, args };
        let graph = self.device.record(&[node]).unwrap();
        self.run_graph(graph, 1);
    }

    pub(super) fn run_graph(&mut self, graph: GraphId, times: usize) {
        assert_eq!(self.device.perform(&[Step::Timed(vec![graph; times])]).unwrap().len(), 1);
    }
}

pub(super) fn int(value: i32) -> BoundArg {
    BoundArg::Scalar(ScalarValue::I32(value))
}

pub(super) fn float(value: f32) -> BoundArg {
    BoundArg::Scalar(ScalarValue::F32Bits(value.to_bits()))
}

pub(super) fn buffer(id: BufferId) -> BoundArg {
    BoundArg::Buffer(id, 0)
}
