//! The compile layer without a GPU. Needs NVRTC (`pip install nvidia-cuda-nvrtc-cu12 nvidia-cuda-runtime-cu12` in the
//! active Python environment, or a CUDA toolkit); says so by name and skips where there is none.

use std::fs;
use std::path::{Path, PathBuf};

use super::CudaCompiler;
use crate::device::cpu::CpuCompiler;
use crate::device::{CompileError, CompileErrorKind, CompileJob, Compiler};
use crate::model::Module;

/// The compiler for `sm_90`; None where NVRTC is not installed.
fn compiler(test: &str) -> Option<CudaCompiler> {
    let found = CudaCompiler::new("sm_90", None);
    if let Err(error) = &found {
        eprintln!("SKIPPED {test}: {error}");
    }
    found.ok()
}

fn job(cache: &Path, source: &Path, kernels: &[&str]) -> CompileJob {
    CompileJob {
        source: source.to_owned(),
        options: Vec::new(),
        kernels: kernels.iter().map(|kernel| (*kernel).to_owned()).collect(),
        cache_dir: cache.to_owned(),
    }
}

fn kernel(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cuda").join(file)
}

/// A kernel file in a folder of its own.
struct Scene {
    folder: tempfile::TempDir,
    source: PathBuf,
}

impl Scene {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("k.cu");
        fs::write(&source, text).unwrap();
        Self { folder, source }
    }

    fn compile(&self, compiler: &CudaCompiler, kernels: &[&str]) -> Result<Module, CompileError> {
        compiler.compile(&job(&self.folder.path().join("cache"), &self.source, kernels))
    }
}

const SAXPY: &str = "extern \"C\" __global__ void saxpy(const float* x, float* y, float a, int n) {\n\
                     int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] += a * x[i];\n}\n";

#[test]
fn both_compilers_agree_on_every_parameter() {
    let Some(cuda) = compiler("both_compilers_agree_on_every_parameter") else { return };
    let cache = tempfile::tempdir().unwrap();
    let cpu_cache = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/simt-tests");
    let cpu = CpuCompiler::new(&cpu_cache).unwrap();
    for (file, kernels) in [
        ("saxpy.cu", &["saxpy"][..]),
        ("swiglu.cu", &["swiglu_bf16", "silu_half2"]),
        ("half.cu", &["half_to_float", "double_to_both", "arithmetic<__half>", "arithmetic<__nv_bfloat16>", "pairs"]),
        ("warp.cu", &["parameters<int>", "reverse<float, 4>", "atomics"]),
        ("histogram.cu", &["histogram"]),
    ] {
        let mine = cuda.compile(&job(cache.path(), &kernel(file), kernels)).unwrap();
        let theirs = cpu.compile(&job(&cpu_cache, &kernel(file), kernels)).unwrap();
        for (one, other) in mine.kernels.iter().zip(&theirs.kernels) {
            assert_eq!((&one.name, &one.params), (&other.name, &other.params), "{file}");
            assert!(!one.params.is_empty() && one.symbol.is_some(), "{file}: {}", one.name);
        }
        assert_eq!(mine.kernels.len(), kernels.len());
    }
}

#[test]
fn mistakes_name_file_line_and_kernel() {
    let Some(cuda) = compiler("mistakes_name_file_line_and_kernel") else { return };
    for (text, kernels, wanted) in [
        ("extern \"C\" __global__ void f(float* x) {\n  x[0] = nothing;\n}\n", &["f"][..], "k.cu:2: "),
        ("extern \"C\" __global__ void f(float* x) {\n  x[0] = 1;\n", &["f"], "k.cu: the file ends inside"),
        (SAXPY, &["sapxy"], "sapxy"),
        ("#include \"missing.cuh\"\nextern \"C\" __global__ void f() {}\n", &["f"], "k.cu:1: "),
        ("#include <vector>\nextern \"C\" __global__ void f() {}\n", &["f"], "k.cu:1: "),
    ] {
        let scene = Scene::new(text);
        let error = scene.compile(&cuda, kernels).unwrap_err();
        assert_eq!(error.kind, CompileErrorKind::Source, "{error}");
        assert!(error.message.contains(wanted), "{wanted}: {error}");
        assert!(!error.message.contains('\n'), "{error}");
    }
}

#[test]
fn an_unknown_architecture_is_no_fault_of_the_source() {
    if compiler("an_unknown_architecture_is_no_fault_of_the_source").is_none() {
        return;
    }
    let old = CudaCompiler::new("sm_20", None).unwrap();
    let error = Scene::new(SAXPY).compile(&old, &["saxpy"]).unwrap_err();
    assert_eq!(error.kind, CompileErrorKind::Environment, "{error}");
    assert!(error.message.contains("sm_20"), "{error}");
}

#[test]
fn the_cache_holds_until_something_changes() {
    let Some(cuda) = compiler("the_cache_holds_until_something_changes") else { return };
    let scene = Scene::new(&format!("#include \"scale.cuh\"\n{SAXPY}"));
    let header = scene.folder.path().join("scale.cuh");
    fs::write(&header, "#define SCALE 1\n").unwrap();
    let first = scene.compile(&cuda, &["saxpy"]).unwrap();
    let written = fs::metadata(&first.artifact).unwrap().modified().unwrap();
    let again = scene.compile(&cuda, &["saxpy"]).unwrap();
    assert_eq!(first, again);
    assert_eq!(fs::metadata(&again.artifact).unwrap().modified().unwrap(), written);
    fs::write(&header, "#define SCALE 2\n").unwrap();
    assert_ne!(scene.compile(&cuda, &["saxpy"]).unwrap().key, first.key);
}

#[test]
fn a_damaged_cubin_is_compiled_again() {
    let Some(cuda) = compiler("a_damaged_cubin_is_compiled_again") else { return };
    let scene = Scene::new(SAXPY);
    let first = scene.compile(&cuda, &["saxpy"]).unwrap();
    let whole = fs::read(&first.artifact).unwrap();
    for damaged in [&whole[..whole.len() / 2], &[][..], &[&whole[..], b"x"].concat()[..]] {
        fs::write(&first.artifact, damaged).unwrap();
        let again = scene.compile(&cuda, &["saxpy"]).unwrap();
        assert_eq!(fs::read(&again.artifact).unwrap(), whole);
    }
}
