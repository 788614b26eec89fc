use std::fs;
use std::time::Instant;

use serde_json::json;

use super::*;
use crate::host::HostErrorKind;

/// A host over a workspace with the given files.
fn host(files: &[(&str, &str)]) -> (tempfile::TempDir, Host) {
    let folder = tempfile::tempdir().unwrap();
    for dir in ["ops", "scripts"] {
        fs::create_dir_all(folder.path().join(dir)).unwrap();
    }
    for (name, source) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, source).unwrap();
    }
    let workspace = Workspace::discover(folder.path(), &folder.path().join("cache"));
    let settings = Settings { reference_limit: Duration::from_millis(200), memory_bytes: 64 << 20 };
    let host = Host::new(workspace, settings).unwrap();
    (folder, host)
}

/// What `scripts/t.lua` with this source returns, or the message of its error.
fn run(source: &str) -> Result<Value, String> {
    let (_folder, host) = host(&[("scripts/t.lua", source)]);
    // Only plain values outlive the VM.
    host.run_script("scripts/t.lua", &json!({ "n": 3, "list": [1, 2] })).map_err(|error| error.message)
}

fn message(source: &str) -> String {
    run(source).unwrap_err()
}

#[test]
fn scripts_get_their_arguments_and_return_an_exit_code() {
    assert_eq!(exit_code(&run("local args = ...; return args.n + #args.list").unwrap()), Ok(5));
    assert_eq!(exit_code(&run("").unwrap()), Ok(0));
    assert_eq!(exit_code(&run("return false").unwrap()), Ok(1));
    assert!(exit_code(&run("return 256").unwrap()).is_err());
    assert!(exit_code(&run("return 1.5").unwrap()).is_err());
}

#[test]
fn undefined_names_raise_with_the_line_and_the_nearest_name() {
    assert_eq!(
        message("local x = 1\nreturn pirnt"),
        "scripts/t.lua:2: undefined global 'pirnt'; did you mean 'print'?"
    );
    assert_eq!(message("\n\nx = 1"), "scripts/t.lua:3: assignment to undefined global 'x'; write 'local x'");
    assert_eq!(message("function f() end"), "scripts/t.lua:1: assignment to undefined global 'f'; write 'local f'");
    assert_eq!(message("popcorn.jsno.encode(1)"), "scripts/t.lua:1: popcorn has no field 'jsno'; did you mean 'json'?");
    let encode = message("popcorn.json.encod(1)");
    assert_eq!(encode, "scripts/t.lua:1: popcorn.json has no field 'encod'; did you mean 'encode'?");
    assert_eq!(message("popcorn.x = 1"), "scripts/t.lua:1: popcorn.x cannot be assigned: the API is read-only");
    assert!(run("local n = 0; for k in pairs(popcorn) do n = n + 1 end; return n").unwrap().as_i64().unwrap() >= 3);
}

/// Row 3 of the list of traps: arguments are neither coerced nor dropped.
#[test]
fn api_functions_take_exactly_what_they_say() {
    assert_eq!(message("popcorn.out(5)"), "scripts/t.lua:1: popcorn.out: expected a string, got integer");
    assert_eq!(message("popcorn.log()"), "scripts/t.lua:1: popcorn.log: expected a string, got nil");
    let extra = message("popcorn.json.encode({}, {})");
    assert_eq!(extra, "scripts/t.lua:1: popcorn.json.encode takes 1 argument, got 2");
    assert_eq!(
        message("\npopcorn.json.encode({ a = 0/0 })"),
        "scripts/t.lua:2: JSON cannot hold a: it is NaN; write a string or leave it out"
    );
}

/// Row 5: no bytecode, by any door.
#[test]
fn precompiled_chunks_are_refused() {
    for gone in ["loadfile", "dofile", "package", "debug"] {
        assert!(message(&format!("return {gone}")).contains(&format!("undefined global '{gone}'")));
    }
    assert_eq!(run("return string.dump == nil").unwrap().as_boolean(), Some(true));
    let load = "local f, e = load('\\27Lua', 'x', 'b'); return e";
    let (_folder, host) = host(&[("scripts/t.lua", load), ("scripts/b.lua", "\x1bLua")]);
    let refused = host.run_script("scripts/t.lua", &()).unwrap().to_string().unwrap();
    assert!(refused.contains("attempt to load a binary chunk"), "{refused}");
    let error = host.run_script("scripts/b.lua", &()).unwrap_err();
    assert_eq!(error.message, "scripts/b.lua: attempt to load a binary chunk (mode is 't')");
    assert_eq!(run("return load('return 1 + 1')()").unwrap().as_i64(), Some(2));
}

/// Rows 6 and 7: neither pcall, xpcall, a coroutine nor a finalizer gets past a budget that has run out.
#[test]
fn a_budget_holds_against_everything_that_catches_errors() {
    let loops = [
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "while true do pcall(error) end",
        "while true do xpcall(function() while true do end end, function(e) return e end) end",
        "while true do coroutine.resume(coroutine.create(function() while true do end end)) end",
        "while true do coroutine.wrap(function() pcall(function() while true do end end) end)() end",
        "local co = coroutine.create(function() while true do end end); coroutine.resume(co); while true do end",
        "while true do local c <close> = setmetatable({}, { __close = function() while true do end end }) end",
        "local function f() return pcall(f) end; while true do f() end",
        "local made = coroutine.wrap(function() while true do coroutine.yield() end end); while true do made() end",
        "table.sort({ 1, 2, 3 }, function() while true do end end)",
    ];
    for source in loops {
        let (_folder, host) = host(&[("scripts/t.lua", source)]);
        let start = Instant::now();
        let result = host.with_deadline("the test", "stop it", || host.run_script("scripts/t.lua", &()));
        let message = result.unwrap_err().message;
        assert!(message.ends_with("the test ran longer than 0.2 s; stop it"), "{source}: {message}");
        assert!(message.starts_with("scripts/t.lua:1: "), "{source}: {message}");
        assert!(start.elapsed() < Duration::from_secs(5), "{source} held on for {:?}", start.elapsed());
        // The VM is usable afterwards.
        assert_eq!(host.run_script("scripts/t2.lua", &()).unwrap_err().kind, HostErrorKind::Script);
        assert!(host.lua().load("return pcall(error)").eval::<bool>().is_ok());
    }
}

#[test]
fn finalizers_are_refused_because_no_budget_reaches_them() {
    let message = message("setmetatable({}, { __gc = function() while true do end end })");
    assert!(message.starts_with("scripts/t.lua:1: setmetatable: __gc is not available"), "{message}");
}

#[test]
fn memory_without_end_is_an_error_and_the_vm_survives() {
    let source = "local t = {}; for i = 1, 1e9 do t[i] = ('x'):rep(1000) .. i end";
    let (_folder, host) = host(&[("scripts/t.lua", source), ("scripts/ok.lua", "return 7")]);
    let error = host.run_script("scripts/t.lua", &()).unwrap_err();
    assert!(error.message.contains("memory"), "{}", error.message);
    assert_eq!(host.run_script("scripts/ok.lua", &()).unwrap().as_i64(), Some(7));
}

/// Row 8: messages start with `file:line:`, also from required files and from Rust.
#[test]
fn errors_name_the_file_and_line_that_raised() {
    let lib = ("scripts/lib/util.lua", "local M = {}\nfunction M.boom() error('boom') end\nreturn M");
    let files = [lib, ("scripts/t.lua", "local util = require 'scripts.lib.util'\nutil.boom()")];
    let (_folder, host) = host(&files);
    let error = host.run_script("scripts/t.lua", &()).unwrap_err();
    assert_eq!(error.message, "scripts/lib/util.lua:2: boom");
    assert!(error.detail.contains("scripts/t.lua:2"), "{}", error.detail);
    assert_eq!(error.kind, HostErrorKind::Script);
    assert_eq!(message("local x = nil; x()"), "scripts/t.lua:1: attempt to call a nil value (local 'x')");
    assert_eq!(message("error({ code = 1 })").lines().count(), 1);
    assert_eq!(message("error()").lines().count(), 1);
    assert_eq!(message("return {"), "scripts/t.lua:1: unexpected symbol near <eof>");
}

#[test]
fn require_runs_a_file_once_and_knows_what_depends_on_what() {
    let files = [
        ("scripts/lib/count.lua", "local M = { n = 0 }\nM.n = M.n + 1\nreturn M"),
        (
            "scripts/a.lua",
            "local late = function() return require 'scripts.lib.extra' end\nreturn { late = late, count = require 'scripts.lib.count' }",
        ),
        ("scripts/lib/extra.lua", "return 5"),
        (
            "scripts/t.lua",
            "local a = require 'scripts.a'\nrequire('scripts.lib.count').n = 9\nreturn a.count.n + a.late()",
        ),
    ];
    let (_folder, host) = host(&files);
    assert_eq!(host.run_script("scripts/t.lua", &()).unwrap().as_i64(), Some(14));
    let names = |name| host.closure(name).into_iter().map(|file| file.name).collect::<Vec<_>>();
    assert_eq!(names("scripts/a.lua"), ["scripts/a.lua", "scripts/lib/count.lua", "scripts/lib/extra.lua"]);
    assert_eq!(names("scripts/t.lua").len(), 4);
    let file = host.closure("scripts/lib/extra.lua").remove(0);
    // sha256 of "return 5", first 12 digits.
    assert_eq!(file.hash, "580c867a9d32");
    assert!(file.path.is_some());
}

#[test]
fn require_refuses_cycles_paths_and_unknown_files() {
    let files = [("scripts/a.lua", "return require 'scripts.b'"), ("scripts/b.lua", "return require 'scripts.a'")];
    let (_folder, host) = host(&files);
    let error = host.run_script("scripts/a.lua", &()).unwrap_err();
    assert!(error.message.contains("require cycle"), "{error}");
    let unknown = message("require 'scripts.lib.dimz'");
    assert!(
        unknown.starts_with("scripts/t.lua:1: no file 'scripts/lib/dimz.lua' in the workspace or in popcorn"),
        "{unknown}"
    );
    for bad in ["'../x'", "'/etc/passwd'", "''", "'a..b'", "'ops/rms_norm'"] {
        let message = message(&format!("require({bad})"));
        assert!(message.contains("is not a module name"), "{message}");
    }
    assert_eq!(message("require(5)"), "scripts/t.lua:1: require: expected a string, got integer");
}

#[test]
fn a_user_file_anywhere_runs_and_a_missing_one_is_a_usage_error() {
    let (folder, host) = host(&[("mine/deep/exp.lua", "local args = ...\nreturn args.n")]);
    let path = folder.path().join("mine/deep/exp.lua");
    assert_eq!(host.run_file(&path, &json!({ "n": 4 })).unwrap().as_i64(), Some(4));
    assert!(host.files().iter().any(|file| file.name == "mine/deep/exp.lua"));
    let error = host.run_file(&folder.path().join("none.lua"), &()).unwrap_err();
    assert_eq!(error.kind, HostErrorKind::Usage);
}

#[test]
fn dropping_a_host_frees_its_vm() {
    let (_folder, host) = host(&[]);
    let weak = host.lua().weak();
    drop(host);
    assert!(weak.try_upgrade().is_none());
}
