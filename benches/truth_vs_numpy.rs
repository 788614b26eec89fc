//! rms_norm of 1024×4096 float64, forward and backward: popcorn's tape beside the same formulas in NumPy on one core.
//!
//! Run with `cargo bench --bench truth_vs_numpy`; NumPy is looked for through `python3`.

use std::process::Command;
use std::time::Instant;

use popcorn::truth::{Result, Tensor, grad};

const ROWS: usize = 1024;
const COLUMNS: usize = 4096;
const REPS: usize = 15;

/// The gradients are written by hand, as a NumPy user would: forward keeps what backward needs.
const NUMPY: &str = "
import time
try:
    import numpy as np
except ImportError:
    raise SystemExit(3)
rows, n, reps, eps = ROWS, COLUMNS, REPS, 1e-6
x = np.sin(np.arange(rows * n, dtype=np.float64)).reshape(rows, n)
w = np.cos(np.arange(n, dtype=np.float64))
dy = np.cos(np.arange(rows * n, dtype=np.float64) * 0.7).reshape(rows, n)
times = []
for _ in range(reps):
    start = time.perf_counter()
    rstd = 1.0 / np.sqrt(np.mean(np.square(x), axis=-1, keepdims=True) + eps)
    xhat = x * rstd
    y = xhat * w
    dw = np.sum(dy * xhat, axis=0)
    dxhat = dy * w
    dx = rstd * (dxhat - xhat * np.mean(dxhat * xhat, axis=-1, keepdims=True))
    times.append((time.perf_counter() - start) * 1e3)
times.sort()
print(np.__version__, times[reps // 2], float(np.sum(y)), float(np.sum(dx * x)), float(np.sum(dw)))
";

/// Microseconds of one tracked op on 64 elements, its backward pass included: what loops over tokens pay.
fn small_op_cost() -> Result<f64> {
    const STEPS: usize = 20_000;
    let leaf = Tensor::ones(&[64], popcorn::model::DType::F64)?.requires_grad()?;
    let factor = Tensor::ones(&[64], popcorn::model::DType::F64)?;
    let start = Instant::now();
    let mut y = leaf.clone();
    for _ in 0..STEPS {
        y = y.mul(&factor)?;
    }
    let cotangent = factor.clone();
    grad(&[y], &[cotangent], &[leaf])?;
    Ok(start.elapsed().as_secs_f64() * 1e6 / STEPS as f64)
}

fn main() -> Result<()> {
    println!("a tracked op on 64 elements, forward + backward: {:.2} us", small_op_cost()?);
    let wave = |scale: f64, phase: fn(f64) -> f64, shape: &[usize]| {
        let values: Vec<f64> = (0..shape.iter().product()).map(|i| phase(i as f64 * scale)).collect();
        Tensor::from_f64(shape, &values)
    };
    let x = wave(1.0, f64::sin, &[ROWS, COLUMNS])?;
    let weight = wave(1.0, f64::cos, &[COLUMNS])?;
    let cotangent = wave(0.7, f64::cos, &[ROWS, COLUMNS])?;
    let mut times = Vec::with_capacity(REPS);
    let mut sums = Vec::new();
    for _ in 0..REPS {
        let start = Instant::now();
        let (x, weight) = (x.requires_grad()?, weight.requires_grad()?);
        let scale = x.square()?.mean(&[-1], true)?.add(1e-6)?.rsqrt()?;
        let y = x.mul(&scale)?.mul(&weight)?;
        let grads = grad(std::slice::from_ref(&y), std::slice::from_ref(&cotangent), &[x.clone(), weight])?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        let total = |x: &Tensor| Ok::<_, popcorn::truth::Error>(x.detach().sum(&[], false)?.as_f64_vec()[0]);
        let [Some(dx), Some(dw)] = &grads[..] else { unreachable!("y depends on both") };
        sums = vec![total(&y)?, total(&dx.mul(x.detach())?)?, total(dw)?];
    }
    times.sort_by(f64::total_cmp);
    let own = times[REPS / 2];
    println!("rms_norm {ROWS}x{COLUMNS} float64, forward + backward, median of {REPS}");
    println!("popcorn  {own:8.1} ms  ({} threads)", rayon::current_num_threads());
    let Some((version, numpy, expected)) = run_numpy() else {
        println!("numpy    not found by python3; `pip install numpy` to compare");
        return Ok(());
    };
    println!("numpy    {numpy:8.1} ms  (one core, {version})");
    println!("ratio    {:8.2}x", own / numpy);
    for (own, expected) in sums.iter().zip(expected) {
        assert!((own - expected).abs() <= 1e-6 * expected.abs().max(1.0), "the two disagree: {own} and {expected}");
    }
    Ok(())
}

/// Version, milliseconds and check sums, if python3 has NumPy.
fn run_numpy() -> Option<(String, f64, Vec<f64>)> {
    let script = NUMPY.replace("ROWS", &ROWS.to_string()).replace("COLUMNS", &COLUMNS.to_string());
    let script = script.replace("REPS", &REPS.to_string());
    let one_core = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"].map(|name| (name, "1"));
    let output = Command::new("python3").args(["-c", &script]).envs(one_core).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let mut words = text.split_whitespace();
    let version = words.next()?.to_owned();
    let numbers: Vec<f64> = words.map(str::parse).collect::<Result<_, _>>().ok()?;
    let (&milliseconds, sums) = numbers.split_first()?;
    Some((version, milliseconds, sums.to_vec()))
}
