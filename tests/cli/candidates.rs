//! Candidates that are wrong, hostile or broken: each gets its status, an exit code of 1, a reason that names the
//! cause, and never stops the other cases.

use super::support::{CASE, Fixture};

/// Tries the candidate after an edit and checks status and words of the reason.
fn expect(lua: &[(&str, &str)], cu: &[(&str, &str)], statuses: &[&str], words: &[&str]) {
    let fixture = Fixture::new();
    for (from, to) in lua {
        fixture.edit("kernels/twice_cu.lua", from, to);
    }
    for (from, to) in cu {
        fixture.edit("kernels/twice.cu", from, to);
    }
    let tried = fixture.try_twice(&["--timeout", "20"]);
    let said = tried.words();
    assert!(statuses.contains(&tried.status()), "{} not in {statuses:?}: {said}", tried.status());
    for word in words {
        assert!(said.contains(word), "reason lacks {word:?}: {said}");
    }
    assert_eq!(tried.code, 1, "{said}");
    assert_eq!(tried.record["verdict"], "revert");
    assert_eq!(fixture.log_lines("twice").len(), 1);
    assert!(!tried.stderr.contains("panicked"), "{}", tried.stderr);
}

/// Tries the usual case and `second`; the exit code and both results.
fn try_two(fixture: &Fixture, second: &str) -> (Option<i32>, serde_json::Value) {
    let args = ["loop", "try", "twice", "--case", CASE, "--case", second, "--reps", "2", "--timeout", "2", "--json"];
    let output = fixture.run(&args);
    let record: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a record");
    (output.status.code(), record["results"].clone())
}

const BODY: &str = "if (i < n) y[i] = T(2.f * float(x[i]));";

#[test]
fn a_right_candidate_is_kept() {
    let fixture = Fixture::new();
    let tried = fixture.try_twice(&[]);
    assert_eq!((tried.status(), tried.code), ("pass", 0), "{}", tried.words());
    let result = &tried.record["results"][0];
    assert!(result["forward"]["median_ms"].as_f64().unwrap() > 0.0);
    assert!(result["backward"]["median_ms"].as_f64().unwrap() > 0.0);
    assert!(result["ref"]["total_ms"].as_f64().unwrap() > 0.0);
    let names: Vec<_> = result["tensors"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["out0", "grad x"]);
}

#[test]
fn a_wrong_answer_names_index_value_truth_and_seed() {
    let fixture = Fixture::new();
    fixture.edit("kernels/twice.cu", BODY, "if (i < n) y[i] = T(i == 70 ? 100.f : 2.f * float(x[i]));");
    let tried = fixture.try_twice(&["--seed", "5"]);
    assert_eq!((tried.status(), tried.code), ("fail", 1));
    for word in ["out0", "[2, 4]", "1e2", "seed 5"] {
        assert!(tried.reason().contains(word), "reason lacks {word:?}: {}", tried.reason());
    }
}

#[test]
fn a_wrong_gradient_is_named() {
    expect(&[("return { x = twice(dy) }", "return { x = twice(twice(dy)) }")], &[], &["fail"], &["grad x"]);
}

#[test]
fn an_output_that_is_not_written_is_poison() {
    expect(&[], &[(BODY, "if (i < n - 1) y[i] = T(2.f * float(x[i]));")], &["fail"], &["out0", "nan"]);
}

#[test]
fn kernel_syntax_error() {
    expect(&[], &[(BODY, "if (i < n y[i] = x[i];")], &["crash", "fail"], &["twice.cu:6"]);
}

#[test]
fn kernel_with_an_unknown_symbol() {
    expect(&[], &[(BODY, "y[i] = frobnicate(x[i]);")], &["crash", "fail"], &["twice.cu:6", "frobnicate"]);
}

#[test]
fn kernel_that_calls_the_host() {
    let hostile = r#"extern "C" int system(const char*); if (i == 0) system("touch /tmp/popcorn-escape");"#;
    let fixture = Fixture::new();
    fixture.edit(
        "kernels/twice.cu",
        "template <typename T>",
        r#"extern "C" int system(const char*);
template <typename T>"#,
    );
    fixture.edit("kernels/twice.cu", BODY, "if (i == 0) system(\"true\"); y[i] = x[i];");
    let tried = fixture.try_twice(&[]);
    assert!(matches!(tried.status(), "crash" | "fail"), "{hostile}: {}", tried.words());
    assert!(tried.words().contains("system"), "{}", tried.words());
}

#[test]
fn unsupported_features_are_named_with_their_line() {
    expect(&[], &[(BODY, "asm volatile(\"bar.sync 0;\");")], &["crash", "fail"], &["twice.cu:6", "PTX"]);
    expect(
        &[],
        &[("#include <cuda_bf16.h>", "#include <cuda_bf16.h>\n#include <mma.h>")],
        &["crash", "fail"],
        &["mma"],
    );
}

#[test]
fn a_kernel_that_does_not_exist() {
    expect(&[("mod:kernel(\"twice\"", "mod:kernel(\"twize\"")], &[], &["crash", "fail"], &["twize", "twice"]);
}

#[test]
fn a_wrong_argument_count_or_type() {
    let call = "x, y, x.numel }";
    expect(&[(call, "x, y }")], &[], &["crash", "fail"], &["twice_cu.lua:5", "3", "2"]);
    expect(&[(call, "x, y, x.numel, 1 }")], &[], &["crash", "fail"], &["twice_cu.lua:5", "3", "4"]);
    expect(&[(call, "x, y, 1.5 }")], &[], &["crash", "fail"], &["twice_cu.lua:5", "1.5"]);
    expect(&[(call, "x, 7, x.numel }")], &[], &["crash", "fail"], &["twice_cu.lua:5"]);
    expect(&[(call, "x, y, 1 << 40 }")], &[], &["crash", "fail"], &["twice_cu.lua:5", "1099511627776"]);
}

#[test]
fn lua_faults_of_the_candidate() {
    expect(&[("local M = {}", "local M = {")], &[], &["crash", "fail"], &["twice_cu.lua"]);
    expect(&[("function M.twice(x)", "function M.twize(x)")], &[], &["crash", "fail"], &["twice"]);
    expect(&[("function M.twice_backward", "function M.backward")], &[], &["crash", "fail"], &["twice_backward"]);
    expect(&[("return twice(x) end", "return x end")], &[], &["crash", "fail"], &["copy"]);
    expect(&[("return { x = twice(dy) }", "return {}")], &[], &["crash", "fail"], &["gradient of 'x'"]);
    expect(&[("return { x = twice(dy) }", "return { x = twice(dy), z = twice(dy) }")], &[], &["crash", "fail"], &["z"]);
    expect(
        &[("local M = {}", "local M = {} error('own words')")],
        &[],
        &["crash", "fail"],
        &["twice_cu.lua:2", "own words"],
    );
    expect(
        &[("local M = {}", "local M = {} io.open('/etc/passwd')")],
        &[],
        &["crash", "fail"],
        &["twice_cu.lua:2", "io"],
    );
}

#[test]
fn lua_that_never_ends_or_eats_memory() {
    expect(&[("local M = {}", "local M = {} while true do end")], &[], &["hang", "crash"], &["twice_cu.lua"]);
    let bomb = "local M = {} local s = 'x' while true do s = s .. s end";
    expect(&[("local M = {}", bomb)], &[], &["crash", "fail", "oom"], &["memory"]);
    let fixture = Fixture::new();
    let pattern = "local M = {} local s = ('a'):rep(40) string.find(s, ('a*'):rep(40) .. 'b')";
    fixture.edit("kernels/twice_cu.lua", "local M = {}", pattern);
    let tried = fixture.try_twice(&["--timeout", "2"]);
    assert_eq!((tried.status(), tried.code), ("hang", 1), "{}", tried.words());
}

#[test]
fn a_plan_with_ten_million_launches() {
    let many =
        "for i = 1, 10000000 do mod:kernel(\"twice\", x.dtype) { grid = 1, block = 64, x, y, 0 } end\n  return y";
    expect(&[("  return y\n", &format!("  {many}\n"))], &[], &["crash", "fail"], &["launches"]);
}

#[test]
fn forty_gigabytes_of_scratch() {
    let huge = "local M = {} local function huge() return gpu.empty({ 10000000000 }, 'float32') end";
    expect(
        &[("local M = {}", huge), ("return twice(x) end", "local h = huge() gpu.fill(h, 1.0) return twice(x) end")],
        &[],
        &["oom"],
        &["memory"],
    );
}

#[test]
fn memory_faults_name_buffer_thread_and_line() {
    expect(
        &[],
        &[(BODY, "y[i < n ? i : n + 100000] = T(2.f * float(x[i < n ? i : 0]));")],
        &["crash"],
        &["out0", "twice.cu:6"],
    );
    expect(&[], &[(BODY, "const_cast<T*>(x)[i < n ? i : 0] = T(0.f);")], &["crash"], &["x", "twice.cu:6"]);
    expect(&[], &[(BODY, "T* p = (T*)(size_t)(n - 132); p[i] = T(1.f);")], &["crash"], &["twice.cu:6"]);
}

#[test]
fn other_deaths_are_named() {
    expect(&[], &[(BODY, "__trap();")], &["crash"], &["__trap", "twice.cu:6"]);
    expect(
        &[],
        &[
            (
                "template <typename T>",
                "__device__ int deep(int n) { volatile char pad[4096]; pad[0] = n; return n <= 0 ? pad[0] : deep(n - 1) + pad[0]; }\ntemplate <typename T>",
            ),
            (BODY, "y[0] = T(float(deep(1000000)));"),
        ],
        &["crash"],
        &["stack"],
    );
    expect(
        &[],
        &[(BODY, "if (threadIdx.x < 32) { __syncthreads(); } else { while (true) __syncwarp(); }")],
        &["crash", "hang"],
        &["twice"],
    );
    expect(&[], &[(BODY, "if (i < n) y[i] = T(float(100 / (n - 132)));")], &["crash"], &["twice"]);
}

#[test]
fn a_deadlocked_barrier_is_a_crash_with_its_line() {
    // Half a warp waits for a lane that has gone to the block's barrier.
    let deadlock = "if (threadIdx.x < 16) __syncwarp(0x0001ffff); else __syncthreads();";
    expect(&[], &[(BODY, deadlock)], &["crash"], &["deadlock", "twice.cu:6"]);
}

#[test]
fn an_endless_kernel_is_a_hang_and_the_next_case_passes() {
    let fixture = Fixture::new();
    fixture.edit("kernels/twice.cu", BODY, &format!("for (volatile int spin = 1; n == 132 && spin;) {{}} {BODY}"));
    let (code, results) = try_two(&fixture, "hidden=32,batch=(4,),float32");
    assert_eq!(results[0]["status"], "hang", "{results}");
    assert!(results[0]["reason"].as_str().unwrap().contains("forward"), "{results}");
    assert_eq!(results[1]["status"], "pass", "{results}");
    assert_eq!(code, Some(1));
}

#[test]
fn a_case_that_dies_does_not_stop_the_others() {
    let fixture = Fixture::new();
    fixture.edit("kernels/twice.cu", BODY, &format!("if (n == 132) __trap(); {BODY}"));
    let (code, results) = try_two(&fixture, "hidden=32,batch=(4,),bfloat16");
    assert_eq!((&results[0]["status"], &results[1]["status"]), (&"crash".into(), &"pass".into()));
    assert_eq!(code, Some(1));
}

#[test]
fn a_kernel_that_floods_stdout_keeps_the_last_lines_only() {
    let fixture = Fixture::new();
    fixture.edit("kernels/twice.cu", BODY, "for (int k = 0; k < 2000; ++k) printf(\"noise %d\\n\", k); __trap();");
    let tried = fixture.try_twice(&[]);
    assert_eq!(tried.status(), "crash");
    assert!(tried.record["results"][0]["detail"].as_array().unwrap().len() <= 8);
}

#[test]
fn an_input_that_the_outputs_do_not_depend_on_wants_a_zero_gradient() {
    let fixture = Fixture::new();
    fixture.edit(
        "ops/twice.lua",
        r#"{ "x", "float[..., hidden]" }"#,
        r#"{ "x", "float[..., hidden]" }, { "z", "float[hidden]" }"#,
    );
    fixture.edit("ops/twice.lua", "function(x)", "function(x, z)");
    let lua = "return { x = twice(dy) }";
    let with_z = |z: &str| format!("return {{ x = twice(dy), z = {z} }}");
    fixture.edit("kernels/twice_cu.lua", "return twice(x) end", "return twice(x), { x = x } end");
    fixture.edit("kernels/twice_cu.lua", lua, &with_z("gpu.zeros({ 33 }, dy.dtype)"));
    let tried = fixture.try_twice(&[]);
    assert_eq!((tried.status(), tried.code), ("pass", 0), "{}", tried.words());
    fixture.edit("kernels/twice_cu.lua", "gpu.zeros({ 33 }, dy.dtype)", "gpu.full({ 33 }, 1.0, dy.dtype)");
    let tried = fixture.try_twice(&[]);
    assert_eq!((tried.status(), tried.code), ("fail", 1), "{}", tried.words());
    assert!(tried.reason().contains("grad z"), "{}", tried.reason());
}
