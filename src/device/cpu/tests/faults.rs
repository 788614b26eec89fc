//! Every fault, each in a child process: one line, exit code, place.

use std::io::BufRead;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::{Bench, buffer, compile, int};
use crate::device::cpu::FAULT_EXIT;
use crate::device::{Access, BoundArg, Shared};

const ROLE: &str = "POPCORN_TEST_FAULT";
const READY: &str = "about to launch";
const N: usize = 256;

/// In a child: launches the kernel that the environment names. In the test run proper: nothing.
#[test]
fn child() {
    let Ok(kernel) = std::env::var(ROLE) else { return };
    let module = compile("faults.cu", &[&kernel]);
    let mut bench = Bench::new();
    let values: Vec<f32> = (0..N).map(|i| i as f32).collect();
    let x = if kernel == "write_input" {
        use std::os::fd::AsFd;
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, &[0u8; 4096]).unwrap();
        crate::device::Device::import(
            &mut bench.device,
            "x",
            Shared::File(file.as_fd()),
            4096 - 1024,
            1024,
            Access::Read,
        )
        .unwrap()
    } else {
        bench.upload("x", &values)
    };
    let y = bench.upload("y", &[0f32; N]);
    let threads = if kernel == "shared_after" { 65 } else { 64 };
    let args: Vec<BoundArg> = vec![buffer(x), buffer(y), int(N as i32)];
    println!("{READY}");
    bench.launch(&module, 0, [4, 1, 1], [if kernel == "failed_assert" { 128 } else { threads }, 1, 1], 256, args);
}

fn command(kernel: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "device::cpu::tests::faults::child", "--nocapture", "--test-threads=1"]);
    command.env(ROLE, kernel).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// Exit code and stderr of a child.
fn outcome(kernel: &str) -> (Option<i32>, String) {
    compile("faults.cu", &[kernel]);
    let output = command(kernel).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The child dies with the fault status after one line that holds all of `parts`.
fn dies(kernel: &str, parts: &[&str]) {
    let (code, text) = outcome(kernel);
    assert_eq!(code, Some(FAULT_EXIT), "{kernel}: {text}");
    assert_eq!(text.lines().count(), 1, "{kernel}: {text}");
    let place = format!("kernel '{kernel}', block (");
    for part in parts.iter().chain([&"faults.cu:", &place.as_str()]) {
        assert!(text.contains(part), "{kernel}: no {part:?} in: {text}");
    }
}

#[test]
fn out_of_bounds_names_buffer_offset_and_line() {
    dies(
        "read_after",
        &[
            "faults.cu:3: out-of-bounds read of buffer 'x' at byte offset 1024 (1024 bytes)",
            "block (3,0,0), thread (63,0,0)",
        ],
    );
    dies("read_before", &["out-of-bounds read of buffer 'x' at byte offset -8000"]);
    dies("write_after", &["faults.cu:10: out-of-bounds write of buffer 'y' at byte offset 1024"]);
    dies(
        "write_input",
        &["faults.cu:13: write to read-only buffer 'x' at byte offset 8 (1024 bytes)", "thread (3,0,0)"],
    );
    dies("null_write", &["null pointer write (address 0x0)", "thread (7,0,0)"]);
    dies("library", &["faults.cu:94: out-of-bounds read of buffer 'x' at byte offset 1024"]);
}

#[test]
fn shared_memory_overruns_are_noticed() {
    for (kernel, what) in [
        ("shared_after", "past the end of static __shared__ memory"),
        ("dynamic_after", "write at byte offset 256 of dynamic shared memory (256 bytes)"),
    ] {
        let (code, text) = outcome(kernel);
        assert_eq!(code, Some(FAULT_EXIT), "{text}");
        assert!(text.contains(what) && text.contains("block (") && text.lines().count() == 1, "{text}");
    }
}

#[test]
fn barriers_and_warp_operations_that_cannot_meet() {
    dies("divergent", &["divergent barrier", "faults.cu:29", "faults.cu:32"]);
    dies(
        "deadlock",
        &[
            "threads 0-15,32-47 wait in __shfl_down_sync(mask 0xffffffff) at faults.cu:38",
            "__syncthreads() at faults.cu:39",
        ],
    );
    dies("bad_mask", &["mask 0x0000ffff does not name the calling lane 16"]);
    dies("bad_width", &["width 12 is not a power of two"]);
    dies("mixed", &["different operations", "__ballot_sync", "__shfl_xor_sync"]);
}

#[test]
fn traps_arithmetic_and_stack() {
    dies("trap", &["__trap()", "thread (5,0,0)"]);
    dies("failed_assert", &["assertion failed: threadIdx.x < 100", "thread (100,0,0)"]);
    dies("overflow", &["stack overflow: a thread needs more than"]);
    if cfg!(target_arch = "x86_64") {
        dies("divide", &["integer division by zero", "thread (3,0,0)"]);
        dies("misaligned", &["misaligned"]);
    }
}

#[test]
fn prints_go_to_stderr() {
    let (code, text) = outcome("prints");
    assert_eq!(code, Some(0));
    assert!(text.contains("hello from thread 1, x 1.0"), "{text}");
}

#[test]
fn a_running_kernel_says_where_it_is() {
    for (kernel, line) in [("endless", "faults.cu:53:"), ("endless_barrier", "faults.cu:5")] {
        compile("faults.cu", &[kernel]);
        let mut child = command(kernel).stdout(Stdio::piped()).spawn().unwrap();
        let out = std::io::BufReader::new(child.stdout.take().unwrap());
        assert!(out.lines().any(|line| line.unwrap().contains(READY)));
        let pid = child.id() as i32;
        // Time for both workers to be inside the kernel.
        std::thread::sleep(Duration::from_millis(500));
        // SAFETY: signals to our own child.
        unsafe { libc::kill(pid, libc::SIGUSR1) };
        std::thread::sleep(Duration::from_millis(500));
        // SAFETY: as above.
        unsafe { libc::kill(pid, libc::SIGTERM) };
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(128 + libc::SIGTERM), "{text}");
        assert_eq!(text.matches("kernel still running").count(), 2, "{text}");
        assert!(text.contains(line) && text.contains(&format!("kernel '{kernel}', block (")), "{text}");
    }
}
