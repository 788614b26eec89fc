//! How long the commands themselves take, as a user sees them: `cargo bench --bench commands`.
//! Prints the median and range of wall times; asserts nothing, as machines are shared and noisy.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Wall times of `runs` runs in milliseconds, sorted; the first run (cold caches) is not counted.
fn times(cache: &Path, args: &[&str], runs: usize) -> Vec<f64> {
    let mut times: Vec<f64> = (0..=runs)
        .map(|_| {
            let start = Instant::now();
            let status = Command::new(env!("CARGO_BIN_EXE_popcorn"))
                .args(args)
                .env("POPCORN_CACHE_DIR", cache)
                .stdout(Stdio::null())
                .status()
                .expect("popcorn starts");
            assert!(matches!(status.code(), Some(0 | 1)), "popcorn {args:?} ended with {status}");
            start.elapsed().as_secs_f64() * 1e3
        })
        .skip(1)
        .collect();
    times.sort_by(f64::total_cmp);
    times
}

fn main() {
    let cache = tempfile::tempdir().expect("a temporary folder");
    println!("{:<34} {:>10} {:>10} {:>10} {:>10}", "command (warm cache)", "median ms", "min", "max", "goal");
    for (args, runs, goal) in [
        (&["op", "list"][..], 20, 50.0),
        (&["op", "show", "rms_norm"], 20, f64::NAN),
        (&["loop", "try", "rms_norm"], 5, 6000.0),
    ] {
        let times = times(cache.path(), args, runs);
        let (median, last) = (times[times.len() / 2], times[times.len() - 1]);
        println!("{:<34} {median:>10.1} {:>10.1} {last:>10.1} {goal:>10.0}", args.join(" "), times[0]);
    }
}
