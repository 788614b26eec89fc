//! Every command, on a good day.

use std::process::Stdio;

use super::support::{Fixture, POPCORN, assert_fails, text};

const OPS: [&str; 11] = [
    "rms_norm",
    "layer_norm",
    "add_rms_norm",
    "softmax",
    "swiglu",
    "geglu",
    "gelu",
    "cross_entropy",
    "matmul",
    "rope",
    "embedding",
];

#[test]
fn op_list_and_show() {
    let fixture = Fixture::new();
    let output = fixture.run(&["op", "list"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    for op in OPS {
        assert!(text(&output.stdout).contains(op), "{op}");
    }
    let listed: serde_json::Value = serde_json::from_slice(&fixture.run(&["op", "list", "--json"]).stdout).unwrap();
    assert!(listed["ops"].as_array().unwrap().len() >= OPS.len());
    for op in OPS {
        let output = fixture.run(&["op", "show", op]);
        assert_eq!(output.status.code(), Some(0), "{op}: {}", text(&output.stderr));
        let shown: serde_json::Value =
            serde_json::from_slice(&fixture.run(&["op", "show", op, "--json"]).stdout).unwrap();
        assert_eq!(shown["name"], op);
    }
}

#[test]
fn the_sample_is_the_same_every_time_and_has_every_float_type() {
    let fixture = Fixture::new();
    let first = fixture.run(&["op", "show", "rms_norm"]).stdout;
    assert_eq!(first, fixture.run(&["op", "show", "rms_norm"]).stdout);
    for dtype in ["float32", "float16", "bfloat16"] {
        assert!(text(&first).contains(&format!(",{dtype},")), "{dtype}");
    }
}

#[test]
fn first_party_candidates_pass_their_default_sample() {
    let fixture = Fixture::new();
    for op in "rms_norm layer_norm softmax cross_entropy swiglu geglu gelu swish sigmoid sqrelu".split(' ') {
        let output = fixture.run(&["loop", "try", op, "--reps", "2"]);
        assert_eq!(output.status.code(), Some(0), "{op}: {}{}", text(&output.stdout), text(&output.stderr));
    }
    let output = fixture.run(&["loop", "try", "matmul", "--forward-only", "--reps", "2"]);
    assert_eq!(output.status.code(), Some(0), "matmul: {}{}", text(&output.stdout), text(&output.stderr));
}

#[test]
fn a_registered_rival_is_timed_beside() {
    let fixture = Fixture::new();
    let output = fixture.run(&["loop", "try", "rms_norm", "--cases", "1", "--reps", "2", "--vs", "plain", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let record: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(record["vs"], "plain");
    assert!(record["vs_total_ms"].as_f64().unwrap() > 0.0, "{record}");
}

#[test]
fn the_built_in_files_are_used_without_a_workspace() {
    let fixture = Fixture::new();
    let empty = tempfile::tempdir().unwrap();
    let output = fixture
        .command(&["loop", "try", "softmax", "--cases", "1", "--reps", "1"])
        .current_dir(empty.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
    assert_eq!(std::fs::read_dir(empty.path()).unwrap().count(), 0, "nothing is left in the current folder");
}

#[test]
fn init_writes_once_and_never_over_edits() {
    let fixture = Fixture::new();
    let folder = tempfile::tempdir().unwrap();
    let init = || fixture.command(&["init", "."]).current_dir(folder.path()).output().unwrap();
    assert_eq!(init().status.code(), Some(0));
    for file in ["ops/rms_norm.lua", "scripts/loop/try.lua", "kernels/rms_norm.cu", "kernels/rms_norm_cu.lua"] {
        assert!(folder.path().join(file).is_file(), "{file}");
    }
    assert_eq!(init().status.code(), Some(0));
    std::fs::write(folder.path().join("ops/gelu.lua"), "return 1").unwrap();
    assert_fails(&init(), 2, &["ops/gelu.lua"]);
}

#[test]
fn a_workspace_file_wins_over_the_built_in_one() {
    let fixture = Fixture::new();
    fixture.write(
        "scripts/policies/recorded.lua",
        "return function() return { verdict = 'inconclusive', reason = 'edited' } end",
    );
    let tried = fixture.try_twice(&[]);
    assert_eq!((tried.code, &tried.record["reason"]), (3, &"edited".into()));
}

#[test]
fn run_gives_a_script_its_arguments_and_exit_code() {
    let fixture = Fixture::new();
    fixture
        .write("mine.lua", "local args = ...\npopcorn.out(args[1] .. '/' .. args[2])\nreturn popcorn.exit.no_verdict");
    let output = fixture.run(&["run", "mine.lua", "one", "--two"]);
    assert_eq!(
        (output.status.code(), text(&output.stdout).as_str()),
        (Some(3), "one/--two\n"),
        "{}",
        text(&output.stderr)
    );
    fixture.write("bad.lua", "local x = 1\nlocal y = undefined_name");
    assert_fails(&fixture.run(&["run", "bad.lua"]), 4, &["bad.lua:2", "undefined_name"]);
    assert_fails(&fixture.run(&["run", "nowhere.lua"]), 2, &["nowhere.lua"]);
}

#[test]
fn show_plan_prints_data_and_records_nothing() {
    let fixture = Fixture::new();
    let output = fixture.run(&["loop", "try", "twice", "--show-plan"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    for word in ["twice<float>", "grid", "block", "forward", "backward", "out0"] {
        assert!(text(&output.stdout).contains(word), "{word}: {}", text(&output.stdout));
    }
    assert!(fixture.log_lines("twice").is_empty());
    let json = fixture.run(&["loop", "try", "twice", "--show-plan", "--json"]);
    for line in text(&json.stdout).lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).unwrap()["plan"]["forward"].is_array());
    }
}

#[test]
fn doctor_says_what_is_there_and_what_is_missing() {
    let fixture = Fixture::new();
    let output = fixture.run(&["doctor"]);
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
    for word in ["compiler", "device", "cache", "workspace"] {
        assert!(text(&output.stdout).contains(word), "{word}");
    }
    let output = fixture.command(&["doctor"]).env("POPCORN_CXX", "/nonexistent/c++").output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert!(text(&output.stdout).contains("apt install g++"), "{}", text(&output.stdout));
    let json: serde_json::Value = serde_json::from_slice(&fixture.run(&["doctor", "--json"]).stdout).unwrap();
    assert!(json["checks"].as_array().unwrap().len() >= 4);
}

#[test]
fn usage_errors_are_2_and_help_has_examples() {
    let fixture = Fixture::new();
    for args in [
        &["loop", "try"][..],
        &["nonsense"],
        &["loop", "try", "twice", "--reps", "0"],
        &["loop", "try", "twice", "--timeout", "-1"],
        &["op", "check"],
    ] {
        assert_eq!(fixture.run(args).status.code(), Some(2), "{args:?}");
    }
    for args in [&["--help"][..], &["loop", "try", "--help"], &["op", "check", "--help"], &["loop", "status", "--help"]]
    {
        let output = fixture.run(args);
        assert_eq!(output.status.code(), Some(0));
    }
    assert!(text(&fixture.run(&["loop", "try", "--help"]).stdout).contains("Examples:"));
    for shell in ["bash", "zsh", "fish"] {
        assert!(text(&fixture.run(&["completions", shell]).stdout).contains("popcorn"));
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let fixture = Fixture::new();
    let script = format!("{POPCORN} op list | head -n 1; exit ${{PIPESTATUS[0]}}");
    let output = std::process::Command::new("bash")
        .args(["-c", &script])
        .current_dir(fixture.root())
        .env("POPCORN_CACHE_DIR", fixture.cache())
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
}

#[test]
fn an_unknown_device_is_said() {
    let fixture = Fixture::new();
    assert_fails(&fixture.run(&["loop", "try", "twice", "--device", "tpu"]), 2, &["tpu", "cpu"]);
}
