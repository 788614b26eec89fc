//! Ways out of the VM, and ways to eat the machine. Each is closed.

use super::{all_fail, forward, forward_error, run, signature};
use crate::model::PlanErrorKind;
use crate::plan::limits;

#[test]
fn only_the_listed_globals_exist() {
    forward(
        r#"
        local allowed = {}
        for name in ("_G _VERSION assert error getmetatable gpu ipairs math next pairs pcall rawequal rawget rawlen \
            rawset select setmetatable string table tonumber tostring type utf8"):gmatch("%S+") do allowed[name] = true end
        for name in pairs(_G) do assert(allowed[name], "global " .. name) end
        for name in pairs(allowed) do assert(_G[name] ~= nil, "no global " .. name) end
        assert(string.dump == nil and math.random == nil and math.randomseed == nil)
        "#,
    );
}

#[test]
fn code_cannot_be_loaded_and_files_cannot_be_reached() {
    for name in [
        "load",
        "loadfile",
        "dofile",
        "require",
        "package",
        "io",
        "os",
        "debug",
        "coroutine",
        "collectgarbage",
        "print",
        "warn",
        "xpcall",
    ] {
        all_fail(&[(&format!("local v = {name}('x') "), "attempt to call a nil value")]);
        all_fail(&[(&format!("_ENV['{name}']('x')"), "attempt to call a nil value")]);
    }
    all_fail(&[("string.dump(function() end)", "attempt to call a nil value")]);
}

#[test]
fn bytecode_is_no_source() {
    let error = run("\x1bLua\x54\x00", &signature()).unwrap_err();
    assert_eq!(error.kind, PlanErrorKind::Candidate);
    assert!(error.message.starts_with("kernels/f.lua"), "{error}");
    assert!(error.message.contains("binary chunk"), "{error}");
}

#[test]
fn metatables_of_strings_and_of_popcorns_values_are_closed() {
    all_fail(&[
        ("getmetatable('').__index = {}", "attempt to index a boolean value"),
        ("setmetatable(gpu, {})", "protected metatable"),
        ("setmetatable(gpu.device, {})", "protected metatable"),
        ("setmetatable(x, {})", "table expected"),
        ("gpu.empty = print", "gpu cannot be changed"),
        ("gpu.device.kind = 'cuda'", "gpu.device cannot be changed"),
        ("x.shape = {}", "a tensor cannot be changed"),
        ("rawset(x, 'shape', {})", "table expected"),
        ("setmetatable({}, { __gc = function() while true do end end })", "__gc is not available"),
    ]);
    forward("assert(getmetatable('') == false and getmetatable(gpu) == false and getmetatable(x) == false)");
    // Writing into what was handed out changes nothing of the tensor's.
    forward("x.shape[1] = 99 assert(x.shape[1] == 4) rawset(gpu, 'empty', 1)");
}

#[test]
fn memory_bombs_are_refused() {
    all_fail(&[
        ("local s = ('x'):rep(1 << 40)", "too large"),
        ("local s = ('x'):rep(1 << 30)", "Lua memory"),
        ("local s = 'x' while true do s = s .. s end", "Lua memory"),
        ("local t = {} while true do t[#t + 1] = ('x'):rep(1 << 20) .. #t end", "Lua memory"),
        ("local t = {} for i = 1, 1 << 40 do t[i] = i end", "Lua memory"),
    ]);
}

#[test]
fn endless_loops_end_even_inside_pcall() {
    all_fail(&[
        ("while true do end", "million Lua instructions"),
        ("while true do pcall(function() while true do end end) end", "million Lua instructions"),
        ("pcall(function() while true do end end)", "million Lua instructions"),
        ("setmetatable({}, { __index = function() while true do end end }).x()", "million Lua instructions"),
        ("table.sort({ 3, 2, 1 }, function() while true do end end)", "million Lua instructions"),
        ("local v = ('x'):gsub('.', function() while true do end end)", "million Lua instructions"),
        ("local function f() return f() end f()", "million Lua instructions"),
        ("error(setmetatable({}, { __tostring = function() while true do end end }))", "kernels/f.lua"),
    ]);
    let error = run("while true do end", &signature()).unwrap_err();
    assert!(error.message.starts_with("kernels/f.lua:1: still running"), "{error}");
}

#[test]
fn deep_recursion_is_an_error() {
    all_fail(&[
        ("local function f() return 1 + f() end f()", "stack overflow"),
        (
            "local t = setmetatable({}, {}) getmetatable(t).__index = function(t, k) return t[k] end local v = t.x",
            "overflow",
        ),
    ]);
}

#[test]
fn huge_plans_are_refused_while_recording() {
    let body =
        "local k = mod:kernel('axpy', 'float32') for i = 1, 10000000 do k{ grid = 1, block = 1, x, y, 1, 1.0 } end";
    let message = forward_error(body);
    assert!(message.contains("more than 100000 launches"), "{message}");
    // A swallowed error counts all the same.
    let swallowed = format!("pcall(function() {body} end)");
    assert!(forward_error(&swallowed).contains("more than 100000 launches"));
    let args = vec!["1"; 4096].join(",");
    let body = format!("local k = mod:kernel('axpy', 'float32') while true do k{{ grid = 1, block = 1, {args} }} end");
    assert!(forward_error(&body).contains("kernel arguments in one plan"));
    all_fail(&[
        ("for i = 1, 1 << 40 do gpu.empty({ 1 }, 'float32') end", "tensors in one plan"),
        ("local t = gpu.empty({ 1 << 40 }, 'float32')", "over the device's 8.0 GiB"),
        ("local t = gpu.empty({ 1 << 62, 1 << 62 }, 'float32')", "over the device's"),
        (
            "for i = 1, 1000 do gpu.empty({ 1 << 20 }, 'float64') end gpu.empty({ 1 << 40 }, 'bool')",
            "over the device's",
        ),
        ("for i = 1, 100 do gpu.compile('f.cu', { options = { '-DN=' .. i } }) end", "files and sets of options"),
        ("for i = 1, 5000 do mod:kernel('axpy', i){ grid = 1, block = 1, x } end", "more than 1000 kernels"),
    ]);
    let error = run(
        "local M = {} function M.scale(x) gpu.empty({1 << 40}, 'float32') end M.scale_backward = M.scale return M",
        &signature(),
    );
    assert_eq!(error.unwrap_err().kind, PlanErrorKind::Oom);
}

#[test]
fn a_plan_too_long_to_send_is_refused() {
    let body = "local k = mod:kernel('axpy', 'float32') for i = 1, 60000 do k{ grid = 1, block = 1, x, y, 1, 1.0 } end";
    let message = forward_error(body);
    assert!(message.contains("MiB of launches"), "{message}");
}

#[test]
fn a_source_file_has_a_limit() {
    let error = run(&" ".repeat(limits::SOURCE_BYTES as usize + 1), &signature()).unwrap_err();
    assert!(error.message.contains("at most"), "{error}");
}

#[test]
fn raised_values_of_every_kind_are_one_line() {
    all_fail(&[
        ("error('boom')", "kernels/f.lua:2: boom"),
        ("error('boom', 0)", "kernels/f.lua: boom"),
        ("error('two\\nlines')", "kernels/f.lua:2: two"),
        ("error({})", "kernels/f.lua"),
        ("error()", "kernels/f.lua"),
        ("error(setmetatable({}, { __tostring = function() error('again') end }))", "kernels/f.lua"),
        ("error(setmetatable({}, { __tostring = function() return {} end, __name = {} }))", "kernels/f.lua"),
        ("error(x)", "kernels/f.lua"),
        ("local v = nil + 1", "kernels/f.lua:2: attempt to perform arithmetic on a nil value"),
    ]);
    assert!(!forward_error("error('two\\nlines')").contains('\n'));
    let error = run("local M = {", &signature()).unwrap_err();
    assert!(error.message.starts_with("kernels/f.lua:1:"), "{error}");
    let missing = crate::model::PlanRequest {
        target: super::TARGET,
        candidate: "/nowhere/f.lua".into(),
        root: "/nowhere".into(),
        signature: signature(),
        cache_dir: "/nowhere".into(),
    };
    let error = crate::plan::plan(&missing, &super::Fake, || ()).unwrap_err();
    assert!(error.message.starts_with("f.lua: cannot be read"), "{error}");
}
