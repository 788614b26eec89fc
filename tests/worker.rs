//! The real planner and launcher processes on the cpu device.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use popcorn::model::{
    Argument, DType, LaunchRequest, Plan, PlanErrorKind, PlanRequest, Role, RunOutcome, RunStatus, Scalar, Schedule,
    Signature, TensorMeta,
};
use popcorn::worker::{CaseMemory, PlanFailure, run_launch_with, run_plan_with};

const LIMIT: Duration = Duration::from_secs(240);

const KERNELS: &str = r#"
#include <cuda_runtime.h>
template <typename T> __global__ void scale(const T* x, T* y, int n, float a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i];
}
extern "C" __global__ void spin(float* y) { volatile int go = 1; while (go) {} y[0] = 1; }
extern "C" __global__ void overrun(float* y, int n) { y[n + 64] = 1; }
extern "C" __global__ void write_input(float* x) { x[0] = 1; }
extern "C" __global__ void null_write(float* y) { y[0] = 1; }
extern "C" __global__ void trap() { __trap(); }
extern "C" __global__ void flood(int n) { for (int i = 0; i < n; i++) printf("flood %d\n", i); }
"#;

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_popcorn"))
}

/// A workspace with the kernels above; compiled objects are shared by all tests of this file.
struct Bench {
    root: tempfile::TempDir,
    cache: PathBuf,
}

impl Bench {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("k.cu"), KERNELS).unwrap();
        Self { cache: Path::new(env!("CARGO_TARGET_TMPDIR")).join("worker-cache"), root }
    }

    fn request(&self, body: &str, n: u64) -> PlanRequest {
        let source = format!(
            "local mod = gpu.compile('k.cu')\nlocal M = {{}}\nfunction M.scale(x, a)\nlocal y = gpu.empty_like(x)\n{body}\n\
             return y, {{ x = x, a = a }} end\nfunction M.scale_backward(saved, dy)\nlocal dx = gpu.empty_like(dy)\n\
             if dy.numel > 0 then mod:kernel('scale', dy.dtype){{ grid = gpu.cdiv(dy.numel, 64), block = 64, dy, dx, dy.numel, saved.a }} end\n\
             return {{ x = dx }} end\nreturn M"
        );
        let candidate = self.root.path().join("k_cu.lua");
        fs::write(&candidate, source).unwrap();
        let meta = |name: &str| TensorMeta { name: name.into(), dtype: DType::F32, shape: vec![n] };
        let signature = Signature {
            op: "scale".into(),
            args: vec![Argument::Tensor(meta("x")), Argument::Scalar { name: "a".into(), value: Scalar::Float(3.0) }],
            outputs: vec![meta("y")],
            grads: vec!["x".into()],
        };
        let root = self.root.path().to_owned();
        PlanRequest {
            target: popcorn::device::target("cpu").unwrap(),
            candidate,
            root,
            signature,
            cache_dir: self.cache.clone(),
        }
    }

    fn plan(&self, body: &str, n: u64) -> Result<Plan, PlanFailure> {
        run_plan_with(program(), &self.request(body, n), LIMIT)
    }

    /// Plans and launches with inputs 0, 1, 2, …
    fn launch(&self, body: &str, n: u64, timeout: Duration) -> (Plan, CaseMemory, RunOutcome) {
        let plan = self.plan(body, n).unwrap_or_else(|error| panic!("{body}: {error}"));
        let mut memory = CaseMemory::new(&plan, 2).unwrap();
        for (draw, index, buffer) in (0..2).flat_map(|draw| (0u32..).zip(&plan.buffers).map(move |(i, b)| (draw, i, b)))
        {
            if matches!(buffer.role, Role::Input { .. } | Role::Cotangent { .. }) {
                let values: Vec<u8> = (0..n).flat_map(|i| ((i + u64::from(draw)) as f32).to_ne_bytes()).collect();
                memory.write(draw, index, &values).unwrap();
            }
        }
        let outcome = run_launch_with(program(), &launch_request(&plan, &memory), &memory, timeout);
        (plan, memory, outcome)
    }
}

fn launch_request(plan: &Plan, memory: &CaseMemory) -> LaunchRequest {
    let schedule = Schedule { sets: 2, reps: 4, warmup: 1, min_rep_ns: 20_000 };
    LaunchRequest {
        device: "cpu".into(),
        plan: plan.clone(),
        shared: memory.shared_buffers().to_vec(),
        handles: None,
        schedule,
        backward: true,
    }
}

const SCALE: &str = "if x.numel > 0 then mod:kernel('scale', x.dtype){ grid = gpu.cdiv(x.numel, 64), block = 64, x, y, x.numel, a } end";

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_ne_bytes(*bytes)).collect()
}

fn failure(body: &str, timeout: Duration) -> popcorn::model::RunFailure {
    Bench::new().launch(body, 100, timeout).2.unwrap_err()
}

#[test]
fn a_kernel_runs_forward_and_backward_on_every_draw() {
    for n in [1, 63, 64, 65, 1009] {
        let (plan, memory, outcome) = Bench::new().launch(SCALE, n, LIMIT);
        let report = outcome.unwrap();
        assert_eq!((report.forward.len(), report.backward.len()), (4, 4));
        assert!(report.forward.iter().all(|sample| sample.ns > 0 && sample.launches == report.forward[0].launches));
        assert_eq!(report.device.kind, "cpu");
        assert!(!report.device.compiler.is_empty());
        for (index, buffer) in (0u32..).zip(&plan.buffers) {
            if matches!(buffer.role, Role::Output { .. } | Role::Grad { .. }) {
                for draw in 0..2u32 {
                    let expected: Vec<f32> = (0..n).map(|i| 3.0 * (i + u64::from(draw)) as f32).collect();
                    assert_eq!(floats(memory.read(draw, index).unwrap()), expected, "{} draw {draw}", buffer.name);
                }
            }
        }
        assert!(memory.inputs_unchanged());
    }
}

#[test]
fn empty_tensors_need_no_launch() {
    let (_, _, outcome) = Bench::new().launch(SCALE, 0, LIMIT);
    outcome.unwrap();
}

#[test]
fn what_is_not_written_stays_poisoned() {
    let (plan, memory, outcome) = Bench::new().launch("", 10, LIMIT);
    outcome.unwrap();
    let output = plan.buffers.iter().position(|buffer| buffer.role == Role::Output { index: 0 }).unwrap() as u32;
    assert!(floats(memory.read(0, output).unwrap()).iter().all(|value| value.is_nan()));
}

#[test]
fn faults_of_kernels_are_named() {
    let table = [
        ("mod:kernel('overrun'){ grid = 1, block = 1, y, y.numel }", "out-of-bounds"),
        ("mod:kernel('write_input'){ grid = 1, block = 1, x }", "read-only"),
        ("mod:kernel('null_write'){ grid = 1, block = 1, gpu.null }", "null"),
        ("mod:kernel('trap'){ grid = 1, block = 1 }", "trap"),
    ];
    for (body, expected) in table {
        let failure = failure(body, LIMIT);
        assert_eq!(failure.status, RunStatus::Crash, "{body}: {failure:?}");
        assert!(failure.message.to_lowercase().contains(expected), "{body}: {failure}");
        assert!(failure.message.contains("k.cu:"), "{body}: {failure}");
    }
}

#[test]
fn an_endless_kernel_is_a_hang_with_a_place() {
    let failure = failure("mod:kernel('spin'){ grid = 1, block = 1, y }", Duration::from_secs(2));
    assert_eq!((failure.status, failure.reason.as_str()), (RunStatus::Hang, "deadline:forward"));
    assert!(failure.message.contains("spin"), "{failure}");
}

#[test]
fn a_flood_of_prints_is_no_obstacle() {
    let (_, _, outcome) =
        Bench::new().launch(&format!("{SCALE} mod:kernel('flood'){{ grid = 1, block = 1, 100000 }}"), 10, LIMIT);
    outcome.unwrap();
}

#[test]
fn forty_terabytes_are_a_clean_oom() {
    let bench = Bench::new();
    let Err(PlanFailure::Refused(error)) = bench.plan("gpu.empty({ 40 << 40 }, 'int8')", 10) else { panic!() };
    assert_eq!(error.kind, PlanErrorKind::Oom);
    let mut plan = bench.plan(&format!("gpu.empty({{ 1 }}, 'int8') {SCALE}"), 10).unwrap();
    let memory = CaseMemory::new(&plan, 2).unwrap();
    let scratch = plan.buffers.iter_mut().find(|buffer| buffer.role == Role::Scratch).unwrap();
    scratch.shape = vec![40 << 40];
    let failure = run_launch_with(program(), &launch_request(&plan, &memory), &memory, LIMIT).unwrap_err();
    assert_eq!(failure.status, RunStatus::Oom, "{failure:?}");
}

#[test]
fn a_killed_launcher_is_told_from_a_fault() {
    let bench = Bench::new();
    let marker = bench.root.path().join("popcorn-marker");
    fs::copy(program(), &marker).unwrap();
    let plan = bench.plan("mod:kernel('spin'){ grid = 1, block = 1, y }", 10).unwrap();
    let memory = CaseMemory::new(&plan, 2).unwrap();
    let killer = std::thread::spawn(move || {
        let start = Instant::now();
        while start.elapsed() < LIMIT {
            for entry in fs::read_dir("/proc").unwrap().flatten() {
                if fs::read_link(entry.path().join("exe")).is_ok_and(|exe| exe == marker)
                    && let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok())
                    && let Some(pid) = rustix::process::Pid::from_raw(pid)
                {
                    std::thread::sleep(Duration::from_millis(200));
                    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
                    return;
                }
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    let copy = bench.root.path().join("popcorn-marker");
    let failure = run_launch_with(&copy, &launch_request(&plan, &memory), &memory, LIMIT).unwrap_err();
    killer.join().unwrap();
    assert_eq!((failure.status, failure.reason.as_str()), (RunStatus::Crash, "signal:SIGKILL"));
}

#[test]
fn what_no_instruction_hook_sees_ends_by_the_clock() {
    let bodies = [
        "local s = ('a'):rep(1 << 16) s:find(('.-'):rep(20) .. 'b')",
        "table.move({}, 1, 1 << 60, 2)",
        "local c <close> = setmetatable({}, { __close = function() while true do end end }) while true do end",
        "local t = setmetatable({}, {}) getmetatable(t).__close = function() while true do end end \
         while true do pcall(function() local c <close> = t while true do end end) end",
    ];
    std::thread::scope(|scope| {
        for body in bodies {
            scope.spawn(move || {
                let Err(PlanFailure::Refused(error)) = Bench::new().plan(body, 10) else { panic!("{body}") };
                assert!(error.message.contains("still running after 10 s"), "{body}: {error}");
            });
        }
    });
}

#[test]
fn a_planner_past_its_deadline_is_a_hang() {
    let bench = Bench::new();
    let request = bench.request("table.move({}, 1, 1 << 60, 2)", 10);
    let Err(PlanFailure::Died(failure)) = run_plan_with(program(), &request, Duration::from_millis(500)) else {
        panic!()
    };
    assert_eq!((failure.status, failure.reason.as_str()), (RunStatus::Hang, "deadline:plan"));
}

#[test]
fn compile_errors_come_back_with_their_place() {
    let bench = Bench::new();
    let Err(PlanFailure::Refused(error)) = bench.plan("mod:kernel('nothing'){ grid = 1, block = 1 }", 10) else {
        panic!()
    };
    assert_eq!(error.kind, PlanErrorKind::Compile, "{error}");
    let body = "mod:kernel('scale', 'float32'){ grid = 1, block = 1, x, y, 1, 1 }";
    let Err(PlanFailure::Refused(error)) = bench.plan(body, 10) else { panic!() };
    assert_eq!(error.kind, PlanErrorKind::Launch);
    assert!(
        error.message.starts_with("k_cu.lua:5: kernel scale<float>: argument 4: parameter is float, got integer 1"),
        "{error}"
    );
}

#[test]
fn unknown_devices_are_the_environments_fault() {
    let bench = Bench::new();
    let plan = bench.plan(SCALE, 1).unwrap();
    let memory = CaseMemory::new(&plan, 2).unwrap();
    let request = LaunchRequest { device: "tpu".into(), ..launch_request(&plan, &memory) };
    let failure = run_launch_with(program(), &request, &memory, LIMIT).unwrap_err();
    assert_eq!(failure.status, RunStatus::Error);
}

#[test]
fn a_role_started_by_hand_says_so() {
    for role in ["__plan", "__launch"] {
        let mut command = Command::new(program());
        command.arg(role).stdin(Stdio::null());
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(4));
        assert!(String::from_utf8_lossy(&output.stderr).contains("started by popcorn itself"), "{output:?}");
    }
}

/// Started by [`a_judge_that_dies_takes_its_children_along`]; does nothing otherwise.
#[test]
fn judge_for_the_test_below() {
    if std::env::var_os("POPCORN_TEST_JUDGE").is_none() {
        return;
    }
    let _ = Bench::new().launch("mod:kernel('spin'){ grid = 1, block = 1, y }", 10, LIMIT);
}

#[test]
fn a_judge_that_dies_takes_its_children_along() {
    let mut judge = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "judge_for_the_test_below"])
        .env("POPCORN_TEST_JUDGE", "1")
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let launcher = wait_for(|| child_with(judge.id(), "__launch")).expect("no launcher was started");
    judge.kill().unwrap();
    judge.wait().unwrap();
    let gone =
        || fs::read_to_string(format!("/proc/{launcher}/stat")).is_ok_and(|stat| !stat.contains(") Z ")).then_some(());
    assert!(wait_for(|| gone().is_none().then_some(())).is_some(), "launcher {launcher} lives on");
}

/// A descendant of `parent` with `word` on its command line.
fn child_with(parent: u32, word: &str) -> Option<u32> {
    fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        let line = fs::read_to_string(entry.path().join("cmdline")).ok()?;
        let status = fs::read_to_string(entry.path().join("status")).ok()?;
        let own = status.lines().any(|line| line == format!("PPid:\t{parent}"));
        (own && line.split('\0').any(|part| part == word)).then_some(pid)
    })
}

fn wait_for<T>(mut probe: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(120) {
        if let Some(found) = probe() {
            return Some(found);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    None
}
