//! The planner against a compiler that only knows parameter lists.

mod api;
mod checking;
mod launches;
mod results;
mod sandbox;

use std::fs;

use crate::device::{CompileError, CompileErrorKind, CompileJob, Compiler};
use crate::model::{
    Argument, DType, DeviceKind, KernelInfo, Module, ParamInfo, ParamKind, Plan, PlanError, PlanRequest, Scalar,
    Signature, Target, TensorMeta,
};
use crate::plan::plan;

/// A device of two cores and 8 GiB.
const TARGET: Target = Target {
    kind: DeviceKind::Cpu,
    architecture: None,
    driver: None,
    processors: 2,
    shared_memory_per_block: 232_448,
    memory_bytes: 8 << 30,
};

/// Knows `axpy<T>(const T*, T*, int n, float a)` and `odd(bool, long long, double, void*, struct, unsigned char)`.
struct Fake;

impl Compiler for Fake {
    fn compile(&self, job: &CompileJob) -> Result<Module, CompileError> {
        let kernels = job.kernels.iter().map(|name| Ok(KernelInfo::new(name, params(name)?)));
        Ok(Module {
            headers: Vec::new(),
            source: job.source.clone(),
            options: job.options.clone(),
            key: String::new(),
            artifact: "a.so".into(),
            kernels: kernels.collect::<Result<_, CompileError>>()?,
        })
    }

    fn describe(&self) -> String {
        "fake".to_owned()
    }
}

fn params(name: &str) -> Result<Vec<ParamInfo>, CompileError> {
    let pointer = |element, is_const| ParamInfo { size: 8, kind: ParamKind::Pointer { element, is_const } };
    let value = |size, kind| ParamInfo { size, kind };
    if let Some(target) = name.strip_prefix("axpy<").and_then(|rest| rest.strip_suffix('>')) {
        let element = DType::ALL.into_iter().find(|dtype| dtype.cuda_name() == target);
        let int = value(4, ParamKind::Int { signed: true });
        return Ok(vec![pointer(element, true), pointer(element, false), int, value(4, ParamKind::Float)]);
    }
    if name == "odd" {
        return Ok(vec![
            value(1, ParamKind::Bool),
            value(8, ParamKind::Int { signed: true }),
            value(8, ParamKind::Float),
            pointer(None, false),
            value(12, ParamKind::Struct),
            value(1, ParamKind::Int { signed: false }),
        ]);
    }
    let message = format!("kernels/f.cu:1: no kernel '{name}'");
    Err(CompileError { kind: CompileErrorKind::Source, message, log: "log".to_owned() })
}

/// `scale(x [4, 8], w [8] or nil, eps) -> y [4, 8]`, gradient of x.
fn signature() -> Signature {
    let meta =
        |name: &str, shape: &[u64]| TensorMeta { name: name.to_owned(), dtype: DType::F32, shape: shape.to_vec() };
    Signature {
        op: "scale".to_owned(),
        args: vec![
            Argument::Tensor(meta("x", &[4, 8])),
            Argument::Absent { name: "w".to_owned() },
            Argument::Scalar { name: "eps".to_owned(), value: Scalar::Float(0.5) },
        ],
        outputs: vec![meta("y", &[4, 8])],
        grads: vec!["x".to_owned()],
    }
}

fn forward_only() -> Signature {
    Signature { grads: vec![], ..signature() }
}

/// Plans `source` as `kernels/f.lua`, beside an `f.cu`.
fn run(source: &str, signature: &Signature) -> Result<Plan, PlanError> {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("kernels");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("f.cu"), "").unwrap();
    fs::write(root.path().join("outside.cu"), "").unwrap();
    std::os::unix::fs::symlink(root.path().join("outside.cu"), folder.join("link.cu")).unwrap();
    fs::write(folder.join("f.lua"), source).unwrap();
    let request = PlanRequest {
        target: TARGET,
        candidate: folder.join("f.lua"),
        root: root.path().to_owned(),
        signature: signature.clone(),
        cache_dir: root.path().join("cache"),
    };
    plan(&request, &Fake, || ())
}

/// Runs `body` inside the forward, where `x` and `y` are tensors, and returns the error's message.
fn forward_error(body: &str) -> String {
    let source = format!(
        "local mod = gpu.compile('f.cu') local M = {{}} function M.scale(x, w, eps) local y = gpu.empty_like(x)\n{body}\nreturn y end return M"
    );
    match run(&source, &forward_only()) {
        Ok(_) => panic!("no error from: {body}"),
        Err(error) => error.message,
    }
}

/// Runs `body` inside the forward; it must succeed.
fn forward(body: &str) -> Plan {
    let source = format!(
        "local mod = gpu.compile('f.cu') local M = {{}} function M.scale(x, w, eps) local y = gpu.empty_like(x)\n{body}\nreturn y end return M"
    );
    run(&source, &forward_only()).unwrap_or_else(|error| panic!("{body}: {error}\n{}", error.detail))
}

/// Every `(body, part of the message)`; all failures are shown together.
fn all_fail(table: &[(&str, &str)]) {
    let wrong: Vec<String> = table
        .iter()
        .map(|(body, expected)| (body, expected, forward_error(body)))
        .filter(|(_, expected, got)| !got.contains(*expected))
        .map(|(body, expected, got)| format!("{body}\n  expected …{expected}…\n  got      {got}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
