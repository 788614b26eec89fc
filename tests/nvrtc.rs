//! Every first-party kernel compiles for real GPU architectures. Needs NVRTC, not a GPU (`pip install
//! nvidia-cuda-nvrtc-cu12 nvidia-cuda-runtime-cu12` in the active Python environment, or a CUDA toolkit); says so and
//! skips where there is none.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;

use libloading::{Library, Symbol};

const ARCHITECTURES: [&str; 3] = ["sm_80", "sm_90", "sm_100"];
/// Ops with a candidate, and a few cases that reach every dtype and both small and large rows.
const OPS: [&str; 11] = [
    "rms_norm",
    "layer_norm",
    "softmax",
    "swiglu",
    "cross_entropy",
    "matmul",
    "gelu",
    "geglu",
    "swish",
    "sigmoid",
    "sqrelu",
];

/// Folders that may hold `lib/libnvrtc.so*` and `include/cuda_fp16.h`.
fn toolkits() -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> =
        ["CUDA_HOME", "CUDA_PATH"].iter().filter_map(std::env::var_os).map(Into::into).collect();
    roots.push("/usr/local/cuda".into());
    if let Some(venv) = std::env::var_os("VIRTUAL_ENV") {
        for python in children(&Path::new(&venv).join("lib")) {
            roots.extend(children(&python.join("site-packages/nvidia")));
        }
    }
    roots
}

fn children(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).map(|entries| entries.flatten().map(|entry| entry.path()).collect()).unwrap_or_default()
}

fn find(roots: &[PathBuf], folders: &[&str], matches: impl Fn(&str) -> bool) -> Option<PathBuf> {
    roots
        .iter()
        .flat_map(|root| folders.iter().map(move |folder| root.join(folder)))
        .flat_map(|folder| children(&folder))
        .find(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(&matches))
}

/// `(source, options, kernel name expressions)` of every module in the plans of an op's sample.
fn modules(op: &str, cache: &Path) -> BTreeSet<(PathBuf, Vec<String>, Vec<String>)> {
    // matmul has no backward candidate yet.
    let passes: &[&str] = if op == "matmul" { &["--forward-only"] } else { &[] };
    let output = Command::new(env!("CARGO_BIN_EXE_popcorn"))
        .args(["loop", "try", op, "--show-plan", "--json", "--cases", "6"])
        .args(passes)
        .env("POPCORN_CACHE_DIR", cache)
        .output()
        .expect("popcorn starts");
    assert!(output.status.success(), "{op}: {}", String::from_utf8_lossy(&output.stderr));
    let strings =
        |value: &serde_json::Value| -> Vec<String> { serde_json::from_value(value.clone()).expect("strings") };
    let mut found = BTreeSet::new();
    for line in String::from_utf8(output.stdout).expect("UTF-8").lines() {
        let case: serde_json::Value = serde_json::from_str(line).expect("one JSON line per case");
        for module in case["plan"]["modules"].as_array().expect("modules") {
            let kernels = module["kernels"].as_array().expect("kernels");
            let names = kernels.iter().map(|kernel| kernel["name"].as_str().expect("name").to_owned()).collect();
            found.insert((module["source"].as_str().expect("source").into(), strings(&module["options"]), names));
        }
    }
    assert!(!found.is_empty(), "{op}: no module in any plan");
    found
}

type Program = *mut c_void;

struct Nvrtc(Library);

impl Nvrtc {
    fn symbol<T>(&self, name: &str) -> Symbol<'_, T> {
        // SAFETY: callers give the type that NVRTC's documentation gives the function of that name.
        unsafe { self.0.get(name.as_bytes()) }.expect("an NVRTC function")
    }

    /// Compiles for one architecture; the compiler's log on failure.
    fn compile(&self, source: &Path, options: &[String], kernels: &[String]) -> Result<(), String> {
        type Create = unsafe extern "C" fn(
            *mut Program,
            *const c_char,
            *const c_char,
            c_int,
            *const *const c_char,
            *const *const c_char,
        ) -> c_int;
        let text =
            CString::new(std::fs::read(source).map_err(|error| error.to_string())?).map_err(|e| e.to_string())?;
        let name = CString::new(source.display().to_string()).map_err(|e| e.to_string())?;
        let mut program: Program = std::ptr::null_mut();
        // SAFETY: pointers live through the call; no headers are passed.
        let status = unsafe {
            self.symbol::<Create>("nvrtcCreateProgram")(
                &mut program,
                text.as_ptr(),
                name.as_ptr(),
                0,
                std::ptr::null(),
                std::ptr::null(),
            )
        };
        assert_eq!(status, 0, "nvrtcCreateProgram");
        for kernel in kernels {
            let kernel = CString::new(kernel.as_str()).map_err(|e| e.to_string())?;
            let add = self.symbol::<unsafe extern "C" fn(Program, *const c_char) -> c_int>("nvrtcAddNameExpression");
            // SAFETY: program is live, the string is copied by the call.
            assert_eq!(unsafe { add(program, kernel.as_ptr()) }, 0, "nvrtcAddNameExpression");
        }
        let options: Vec<CString> =
            options.iter().map(|option| CString::new(option.as_str()).expect("no NUL")).collect();
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let compile =
            self.symbol::<unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int>("nvrtcCompileProgram");
        // SAFETY: `pointers` borrows `options`, which outlives the call.
        let status = unsafe { compile(program, pointers.len() as c_int, pointers.as_ptr()) };
        if status == 0 { Ok(()) } else { Err(self.log(program)) }
    }

    fn log(&self, program: Program) -> String {
        let mut size = 0usize;
        // SAFETY: out-pointers are valid, and the buffer has the size that NVRTC asked for.
        unsafe {
            self.symbol::<unsafe extern "C" fn(Program, *mut usize) -> c_int>("nvrtcGetProgramLogSize")(
                program, &mut size,
            );
            let mut buffer = vec![0u8; size.max(1)];
            self.symbol::<unsafe extern "C" fn(Program, *mut c_char) -> c_int>("nvrtcGetProgramLog")(
                program,
                buffer.as_mut_ptr().cast(),
            );
            CStr::from_ptr(buffer.as_ptr().cast()).to_string_lossy().into_owned()
        }
    }
}

#[test]
fn every_kernel_compiles_for_gpu_architectures() {
    let roots = toolkits();
    let library = find(&roots, &["lib", "lib64"], |name| name.starts_with("libnvrtc.so"));
    let header = find(&roots, &["include"], |name| name == "cuda_fp16.h");
    let (Some(library), Some(header)) = (library, header) else {
        println!(
            "SKIPPED every_kernel_compiles_for_gpu_architectures: no NVRTC; pip install nvidia-cuda-nvrtc-cu12 nvidia-cuda-runtime-cu12"
        );
        return;
    };
    // SAFETY: NVRTC's initialisers have no requirements.
    let nvrtc = Nvrtc(unsafe { Library::new(&library) }.expect("libnvrtc loads"));
    let cache = tempfile::tempdir().expect("a temporary folder");
    let mut compiled = 0;
    for op in OPS {
        for (source, options, kernels) in modules(op, cache.path()) {
            for architecture in ARCHITECTURES {
                let mut all = options.clone();
                all.push(format!("--gpu-architecture={architecture}"));
                all.push("--std=c++17".to_owned());
                for folder in [header.parent(), source.parent()].into_iter().flatten() {
                    all.push(format!("--include-path={}", folder.display()));
                }
                let result = nvrtc.compile(&source, &all, &kernels);
                assert!(result.is_ok(), "{} for {architecture}: {}", source.display(), result.unwrap_err());
                compiled += 1;
            }
        }
    }
    println!("{compiled} modules compiled with {}", library.display());
    assert!(compiled >= OPS.len() * ARCHITECTURES.len());
}
