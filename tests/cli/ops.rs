//! Op files that are wrong, and names that do not exist.

use super::support::{CASE, Fixture, TWICE_LUA, TWICE_OP, assert_fails, text};

/// An op fault is never held against the candidate: exit 4, whatever else happens.
fn expect_fault(from: &str, to: &str, words: &[&str]) {
    let fixture = Fixture::new();
    fixture.edit("ops/twice.lua", from, to);
    let output = fixture.run(&["loop", "try", "twice", "--case", CASE, "--reps", "1"]);
    let all = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{all}");
    for word in words {
        assert!(all.contains(word), "lacks {word:?}: {all}");
    }
    assert!(!all.contains("KEEP") && !all.contains("REVERT") && !all.contains("panicked"), "{all}");
}

#[test]
fn an_unknown_op_suggests_the_nearest() {
    let fixture = Fixture::new();
    for command in [
        &["loop", "try", "rms_nrom"][..],
        &["op", "show", "rms_nrom"],
        &["op", "check", "rms_nrom"],
        &["loop", "status", "rms_nrom"],
    ] {
        assert_fails(&fixture.run(command), 2, &["rms_nrom", "rms_norm"]);
    }
}

#[test]
fn a_typo_in_a_key() {
    expect_fault("summary =", "sumary =", &["ops/twice.lua", "sumary", "summary"]);
}

#[test]
fn a_lua_syntax_error() {
    expect_fault("tags = {", "tags = {{", &["ops/twice.lua:"]);
}

#[test]
fn a_list_that_is_not_one() {
    expect_fault("tags = { \"test\" }", "tags = { x = \"test\" }", &["ops/twice.lua", "tags"]);
}

#[test]
fn a_reference_that_raises() {
    expect_fault(
        "return (x:upcast() * 2)",
        "error('own words') return (x:upcast() * 2)",
        &["ops/twice.lua:7", "own words"],
    );
}

#[test]
fn a_reference_with_a_misspelt_method() {
    expect_fault("x:upcast()", "x:upcats()", &["ops/twice.lua:7", "upcats", "upcast"]);
}

#[test]
fn a_reference_of_the_wrong_shape_dtype_or_count() {
    expect_fault(
        "(x:upcast() * 2):to(x.dtype)",
        "(x:upcast() * 2):to(x.dtype):flatten()",
        &["twice", "[132]", "[4, 33]"],
    );
    expect_fault(":to(x.dtype)", ":to(\"float64\")", &["twice", "float64", "float32"]);
    expect_fault("(x:upcast() * 2):to(x.dtype)", "x, x", &["twice", "2", "1"]);
}

#[test]
fn a_reference_that_loops_forever() {
    let fixture = Fixture::new();
    fixture.edit("ops/twice.lua", "return (x:upcast() * 2)", "while true do end return (x:upcast() * 2)");
    let output = fixture.run(&["loop", "try", "twice", "--case", CASE, "--reps", "1", "--timeout", "1"]);
    let all = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{all}");
    assert!(all.contains("ops/twice.lua:7"), "{all}");
}

#[test]
fn a_case_that_does_not_fit_the_op() {
    let fixture = Fixture::new();
    for (case, words) in [
        ("hiden=33,batch=(4,),float32", &["hiden", "hidden"][..]),
        ("batch=(4,),float32", &["hidden"]),
        ("hidden=33,batch=(4,)", &["dtype"]),
        ("hidden=33,float33", &["float33"]),
        ("hidden=x,float32", &["hidden"]),
        ("", &["case"]),
    ] {
        assert_fails(&fixture.run(&["loop", "try", "twice", "--case", case]), 2, words);
    }
}

#[test]
fn a_candidate_that_is_not_there() {
    let fixture = Fixture::new();
    std::fs::remove_file(fixture.root().join("kernels/twice_cu.lua")).unwrap();
    assert_fails(&fixture.run(&["loop", "try", "twice"]), 2, &["twice", "kernels/twice_cu.lua"]);
    assert_fails(&fixture.run(&["loop", "try", "twice", "--impl", "nowhere.lua"]), 2, &["nowhere.lua"]);
    fixture.write("kernels/twice_cu.lua", TWICE_LUA);
    assert_fails(&fixture.run(&["loop", "try", "twice", "--vs", "ligre"]), 2, &["ligre", "popcorn"]);
    assert_fails(&fixture.run(&["loop", "try", "add_rms_norm"]), 2, &["add_rms_norm"]);
}

#[test]
fn policies_that_are_wrong() {
    let fixture = Fixture::new();
    let attempt =
        |policy: &str| fixture.run(&["loop", "try", "twice", "--case", CASE, "--reps", "1", "--policy", policy]);
    assert_fails(&attempt("recoded"), 2, &["recoded", "recorded"]);
    fixture.write("bad.lua", "return 7");
    assert_fails(&attempt("bad.lua"), 2, &["bad.lua", "function"]);
    fixture.write("worse.lua", "return function() return { verdict = 'maybe' } end");
    let output = attempt("worse.lua");
    assert_eq!(output.status.code(), Some(4));
    assert!(text(&output.stderr).contains("maybe"), "{}", text(&output.stderr));
    fixture.write("raises.lua", "return function(e) return e.nothing.here end");
    assert_eq!(attempt("raises.lua").status.code(), Some(4));
}

#[test]
fn a_policy_of_ones_own_decides() {
    let fixture = Fixture::new();
    fixture.write("never.lua", "return function() return { verdict = 'inconclusive', reason = 'never sure' } end");
    let output = fixture.run(&["loop", "try", "twice", "--case", CASE, "--reps", "1", "--policy", "./never.lua"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("never sure"));
}

#[test]
fn every_op_checks_and_a_wrong_vector_fails() {
    let golden = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/golden");
    if !golden.is_dir() {
        println!("SKIPPED every_op_checks_and_a_wrong_vector_fails: {} is not there", golden.display());
        return;
    }
    let fixture = Fixture::new();
    for op in
        "rms_norm layer_norm add_rms_norm softmax swiglu geglu gelu cross_entropy matmul rope embedding".split(' ')
    {
        let file = golden.join(format!("{op}.safetensors"));
        let output = fixture.run(&["op", "check", op, "--against", file.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(0), "{op}: {}{}", text(&output.stdout), text(&output.stderr));
    }
    // A reference that is wrong in the seventh digit must fail.
    let source = include_str!("../../ops/swiglu.lua");
    assert!(source.contains(":silu()"), "the edit below needs it");
    fixture.write("ops/swiglu.lua", &source.replace(":silu()", ":silu() * 1.0000001"));
    let file = golden.join("swiglu.safetensors");
    let output = fixture.run(&["op", "check", "swiglu", "--against", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
}

#[test]
fn op_check_finds_a_gradient_that_is_cut() {
    let fixture = Fixture::new();
    fixture.write("ops/twice.lua", TWICE_OP.replace("(x:upcast() * 2)", "(x:upcast() + x:upcast():detach())").as_str());
    let output = fixture.run(&["op", "check", "twice"]);
    assert_eq!(output.status.code(), Some(1), "{}{}", text(&output.stdout), text(&output.stderr));
}
