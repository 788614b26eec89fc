//! Processes: killed judges, killed launchers, Ctrl-C, no compiler.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::support::{CASE, Fixture, assert_fails, processes_with, text};

/// A try whose kernel never ends.
fn endless(fixture: &Fixture) -> Child {
    fixture.edit("kernels/twice.cu", "if (i < n)", "for (volatile int spin = 1; spin;) {} if (i < n)");
    let child = fixture
        .command(&["loop", "try", "twice", "--case", CASE, "--reps", "1", "--timeout", "60"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("popcorn starts");
    wait_for("a launcher", || launchers(fixture) > 0);
    child
}

/// Launcher processes of this fixture (its cache folder is in their environment or request).
fn launchers(fixture: &Fixture) -> usize {
    let mine = fixture.cache().display().to_string();
    processes_with(&mine).iter().filter(|line| line.contains("__launch")).count()
}

fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(60), "waited too long for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn signal(pid: u32, name: &str) {
    let status = std::process::Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status().unwrap();
    assert!(status.success());
}

#[test]
fn ctrl_c_ends_the_children_and_leaves_the_log_whole() {
    for name in ["INT", "TERM"] {
        let fixture = Fixture::new();
        let child = endless(&fixture);
        signal(child.id(), name);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains("interrupted"));
        wait_for("the launcher's end", || launchers(&fixture) == 0);
        assert!(fixture.log_lines("twice").is_empty());
    }
}

#[test]
fn children_die_with_a_killed_judge() {
    let fixture = Fixture::new();
    let mut child = endless(&fixture);
    signal(child.id(), "KILL");
    child.wait().unwrap();
    wait_for("the launcher's end", || launchers(&fixture) == 0);
}

#[test]
fn a_killed_launcher_is_a_crash() {
    let fixture = Fixture::new();
    let child = endless(&fixture);
    let mine = fixture.cache().display().to_string();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let read = |name: &str| std::fs::read(entry.path().join(name)).map(|bytes| text(&bytes)).unwrap_or_default();
        if read("cmdline").contains("__launch") && read("environ").contains(&mine) {
            signal(entry.file_name().to_string_lossy().parse().unwrap(), "KILL");
        }
    }
    let output = child.wait_with_output().unwrap();
    let stdout = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{stdout}");
    assert!(stdout.contains("crash") && stdout.contains("SIGKILL"), "{stdout}");
}

#[test]
fn no_compiler_is_an_environment_fault_that_says_how_to_get_one() {
    let fixture = Fixture::new();
    let output = fixture
        .command(&["loop", "try", "twice", "--case", CASE])
        .env("POPCORN_CXX", "/nonexistent/c++")
        .output()
        .unwrap();
    let all = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{all}");
    assert!(all.contains("/nonexistent/c++"), "{all}");
    let output = fixture
        .command(&["loop", "try", "twice", "--case", CASE])
        .env("PATH", "/nonexistent")
        .env_remove("POPCORN_CXX")
        .output()
        .unwrap();
    let all = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{all}");
    assert!(all.contains("g++"), "{all}");
}

#[test]
fn children_given_nonsense_refuse_it() {
    let fixture = Fixture::new();
    for role in ["__plan", "__launch"] {
        let output = fixture.command(&[role]).stdin(Stdio::null()).output().unwrap();
        assert!(!output.status.success(), "{role}");
        assert!(!text(&output.stderr).contains("panicked"), "{role}: {}", text(&output.stderr));
    }
}

#[test]
fn a_cache_that_cannot_be_used_is_said() {
    let fixture = Fixture::new();
    std::fs::write(fixture.cache(), "a file, not a folder").unwrap();
    assert_fails(&fixture.run(&["loop", "try", "twice", "--case", CASE]), 4, &["cache"]);
}
