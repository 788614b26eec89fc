//! The device through its two traits: kernels under `tests/cuda`, compiled and run.

use std::path::{Path, PathBuf};

use super::{CpuCompiler, CpuDevice};
use crate::device::{BoundArg, BoundNode, BufferId, CompileError, CompileJob, Compiler, Device};
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

    pub(super) fn empty<T>(&mut self, name: &str, len: usize) -> BufferId {
        self.device.alloc(name, (len * size_of::<T>()) as u64).unwrap()
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
        self.device.replay(graph, 1).unwrap();
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

#[test]
fn saxpy_over_edge_sizes() {
    let module = compile("saxpy.cu", &["saxpy"]);
    assert_eq!(module.kernels[0].params.len(), 4);
    for n in [1usize, 31, 32, 33, 255, 256, 257, 10_007] {
        let mut bench = Bench::new();
        let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let (bx, by) = (bench.upload("x", &x), bench.upload("y", &vec![1f32; n]));
        let args = vec![buffer(bx), buffer(by), float(2.0), int(n as i32)];
        bench.launch(&module, 0, [n.div_ceil(256) as u32, 1, 1], [256, 1, 1], 0, args);
        assert!(bench.read::<f32>(by).iter().enumerate().all(|(i, y)| *y == 2.0 * i as f32 + 1.0), "n = {n}");
    }
}
