//! What a fresh launcher process costs: from spawn to exit, an empty plan and a plan with one small kernel, warm cache.
//!
//! `cargo bench --bench overhead`. The goal is at most 30 ms per case.

use std::path::Path;
use std::time::{Duration, Instant};

use popcorn::model::{Argument, DType, LaunchRequest, Plan, PlanRequest, Schedule, Signature, TensorMeta};
use popcorn::worker::{CaseMemory, run_launch_with, run_plan_with};

const ROUNDS: usize = 30;
const LIMIT: Duration = Duration::from_secs(120);

const KERNEL: &str = r#"
extern "C" __global__ void nothing() {}
extern "C" __global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}
"#;

const CANDIDATE: &str = r#"
local mod = gpu.compile("twice.cu")
return { twice = function(x)
  local y = gpu.empty_like(x)
  mod:kernel("nothing"){ grid = 1, block = 1 }
  mod:kernel("twice"){ grid = gpu.cdiv(x.numel, 256), block = 256, x, y, x.numel }
  return y
end }
"#;

fn main() {
    if let Err(error) = run() {
        eprintln!("overhead: {error}");
        std::process::exit(1);
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let program = Path::new(env!("CARGO_BIN_EXE_popcorn"));
    let root = tempfile::tempdir()?;
    std::fs::write(root.path().join("twice.cu"), KERNEL)?;
    std::fs::write(root.path().join("twice_cu.lua"), CANDIDATE)?;
    let meta = |name: &str| TensorMeta { name: name.into(), dtype: DType::F32, shape: vec![1000] };
    let request = PlanRequest {
        target: popcorn::device::target("cpu")?,
        candidate: root.path().join("twice_cu.lua"),
        root: root.path().into(),
        signature: Signature {
            op: "twice".into(),
            args: vec![Argument::Tensor(meta("x"))],
            outputs: vec![meta("y")],
            grads: vec![],
        },
        cache_dir: root.path().join("cache"),
    };
    let start = Instant::now();
    let plan = run_plan_with(program, &request, LIMIT)?;
    println!("plan, cold cache      {:8.2} ms", start.elapsed().as_secs_f64() * 1e3);
    report("plan, warm cache", || {
        run_plan_with(program, &request, LIMIT).map(drop).map_err(|error| error.to_string())
    })?;
    let empty = Plan { forward: vec![], modules: vec![], ..plan.clone() };
    let nothing = Plan { forward: plan.forward[..1].to_vec(), ..plan.clone() };
    for (name, plan) in
        [("launch, empty plan", empty), ("launch, empty kernel", nothing), ("launch, small kernel", plan)]
    {
        let memory = CaseMemory::new(&plan, 1)?;
        let schedule = Schedule { sets: 1, reps: 1, warmup: 1, min_rep_ns: 0 };
        let shared = memory.shared_buffers().to_vec();
        let request = LaunchRequest { device: "cpu".into(), plan, shared, handles: None, schedule, backward: false };
        report(name, || {
            run_launch_with(program, &request, &memory, LIMIT).map(drop).map_err(|error| error.to_string())
        })?;
    }
    Ok(())
}

/// Least, median and largest of some rounds.
fn report(name: &str, mut round: impl FnMut() -> Result<(), String>) -> Result<(), String> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        round()?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    println!(
        "{name:<21} {:8.2} ms   (least {:.2}, most {:.2}; goal 30)",
        times[ROUNDS / 2],
        times[0],
        times[ROUNDS - 1]
    );
    Ok(())
}
