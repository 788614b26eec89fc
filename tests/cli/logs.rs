//! Record files that are read-only, full, torn, foreign or newer.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use super::support::{CASE, Fixture, POPCORN, assert_fails, text};

const TRY: [&str; 7] = ["loop", "try", "twice", "--case", CASE, "--reps", "1"];

#[test]
fn a_log_that_cannot_be_written_is_said_before_anything_runs() {
    let fixture = Fixture::new();
    // A file where the folder should be stops root too, which ignores permission bits.
    std::fs::create_dir_all(fixture.cache().join("v4")).unwrap();
    std::fs::write(fixture.cache().join("v4/loop"), "").unwrap();
    assert_fails(&fixture.run(&TRY), 4, &["loop/twice.jsonl", "--log"]);
    std::fs::remove_file(fixture.cache().join("v4/loop")).unwrap();

    let folder = fixture.root().join("locked");
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o555)).unwrap();
    if std::fs::write(folder.join("probe"), "").is_err() {
        let log = folder.join("x.jsonl");
        let output = fixture.run(&[&TRY[..], &["--log", log.to_str().unwrap()]].concat());
        assert_fails(&output, 4, &["locked/x.jsonl"]);
    }
}

#[test]
fn a_full_disk_in_the_middle_of_an_append_loses_nothing() {
    let fixture = Fixture::new();
    assert_eq!(fixture.run(&TRY).status.code(), Some(0));
    let before = std::fs::read(fixture.log("twice")).unwrap();
    // A file size limit acts like a full disk: the write is cut short, then fails (SIGXFSZ is ignored).
    let blocks = before.len() / 1024 + 1;
    let script =
        format!("trap '' XFSZ; ulimit -f {blocks}; exec {POPCORN} {}", TRY.map(|arg| format!("'{arg}'")).join(" "));
    let note = format!("{script} --note '{}'", "long note ".repeat(400));
    let output = Command::new("bash")
        .args(["-c", &note])
        .current_dir(fixture.root())
        .env("POPCORN_CACHE_DIR", fixture.cache())
        .output()
        .unwrap();
    assert_fails_with_record(&output);
    assert_eq!(std::fs::read(fixture.log("twice")).unwrap(), before, "the log changed");
}

fn assert_fails_with_record(output: &std::process::Output) {
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{stderr}");
    assert!(stderr.contains("twice.jsonl") && stderr.contains("\"verdict\""), "{stderr}");
}

#[test]
fn torn_foreign_and_newer_lines_are_reported_and_skipped() {
    let fixture = Fixture::new();
    assert_eq!(fixture.run(&TRY).status.code(), Some(0));
    let good = fixture.log_lines("twice")[0].clone();
    let newer = good.replace("\"v\":4", "\"v\":99");
    assert_ne!(newer, good);
    std::fs::write(fixture.log("twice"), format!("not json\n{newer}\n{good}\n{}", &good[..40])).unwrap();
    let output = fixture.run(&["loop", "status", "twice"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("1 experiment, 1 kept"), "{}", text(&output.stdout));
    for word in ["line 1", "line 2", "version 99", "line 4", "torn"] {
        assert!(text(&output.stderr).contains(word), "{word}: {}", text(&output.stderr));
    }
    // The next record closes the torn line instead of being glued to it.
    assert!(matches!(fixture.run(&TRY).status.code(), Some(0 | 1)));
    let output = fixture.run(&["loop", "status", "twice", "--json"]);
    let status: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(status["groups"][0]["experiments"], 2, "{status}");
}

#[test]
fn samples_modes_and_reps_are_never_mixed() {
    let fixture = Fixture::new();
    for more in [&[][..], &["--forward-only"], &["--reps", "2"], &["--case", "hidden=8,batch=(),float32"]] {
        let args: Vec<&str> = TRY
            .iter()
            .filter(|arg| !more.contains(&"--reps") || !["--reps", "1"].contains(arg))
            .copied()
            .chain(more.iter().copied())
            .collect();
        assert_eq!(fixture.run(&args).status.code(), Some(0), "each is a baseline of its own: {args:?}");
    }
    let output = fixture.run(&["loop", "status", "twice", "--json"]);
    let status: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(status["groups"].as_array().unwrap().len(), 4, "{status}");
}

#[test]
fn a_changed_reference_starts_a_new_baseline() {
    let fixture = Fixture::new();
    assert_eq!(fixture.run(&TRY).status.code(), Some(0));
    fixture.edit("ops/twice.lua", "Twice its input.", "Twice the input.");
    let output = fixture.run(&TRY);
    assert!(text(&output.stdout).contains("first passing baseline"), "{}", text(&output.stdout));
}

#[test]
fn two_experiments_at_once_leave_both_records() {
    let fixture = Fixture::new();
    let children: Vec<_> = (0..2).map(|_| fixture.command(&TRY).spawn().unwrap()).collect();
    for mut child in children {
        assert!(matches!(child.wait().unwrap().code(), Some(0 | 1)));
    }
    let lines = fixture.log_lines("twice");
    assert_eq!(lines.len(), 2);
    assert!(lines.iter().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
}

#[test]
fn the_python_tools_log_is_read() {
    let log = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/reference/peer_log/swiglu.jsonl");
    if !log.is_file() {
        println!("SKIPPED the_python_tools_log_is_read: {} is not there", log.display());
        return;
    }
    let fixture = Fixture::new();
    let output = fixture.run(&["loop", "status", "--log", log.to_str().unwrap(), "--last", "3"]);
    let stdout = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    for word in ["swiglu", "NVIDIA H200", "7 experiments, 1 kept, 6 reverts", "0.212 ms", "does not improve"] {
        assert!(stdout.contains(word), "{word}: {stdout}");
    }
}

#[test]
fn a_log_elsewhere_is_used_when_asked_for() {
    let fixture = Fixture::new();
    let output = fixture.run(&[&TRY[..], &["--log", "mine.jsonl"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(fixture.root().join("mine.jsonl").is_file());
    assert!(!fixture.log("twice").exists());
}
