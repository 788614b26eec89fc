//! What the candidate exports and returns, against the signature.

use super::{forward_only, run, signature};
use crate::model::{Node, PlanErrorKind, Role};

/// A candidate whose forward and backward end with the given statements.
fn candidate(forward: &str, backward: &str) -> String {
    format!(
        "local mod = gpu.compile('f.cu')\nlocal M = {{}}\nlocal kept\nfunction M.scale(x, w, eps)\n\
         local y = gpu.empty_like(x) mod:kernel('axpy', x.dtype){{ grid = 1, block = 32, x, y, x.numel, eps }} {forward} end\n\
         function M.scale_backward(saved, dy)\n {backward} end\nreturn M"
    )
}

const FORWARD: &str = "return y, { x = x, deep = { 1, true, 'a', y } }";
const BACKWARD: &str = "local dx = gpu.empty_like(saved.x) gpu.copy(dx, dy) return { x = dx }";

#[test]
fn a_good_candidate_becomes_a_plan() {
    let plan = run(&candidate(FORWARD, BACKWARD), &signature()).unwrap();
    let roles: Vec<_> = plan.buffers.iter().map(|buffer| (buffer.name.as_str(), buffer.role.clone())).collect();
    assert_eq!(
        roles,
        [
            ("x", Role::Input { param: "x".into() }),
            ("y", Role::Output { index: 0 }),
            ("dy", Role::Cotangent { index: 0 }),
            ("grad x", Role::Grad { param: "x".into() }),
        ]
    );
    assert_eq!((plan.forward.len(), plan.backward.len(), plan.modules.len()), (1, 1, 1));
    let Node::Launch { at, .. } = &plan.forward[0] else { panic!("{:?}", plan.forward) };
    assert_eq!(at, "kernels/f.lua:5");
    let again = run(&candidate(FORWARD, BACKWARD), &signature()).unwrap();
    assert_eq!((plan.forward, plan.buffers), (again.forward, again.buffers));
}

#[test]
fn outputs_are_checked() {
    let table = [
        ("", "scale returned 0 values, expected 1 output and then one table"),
        ("return y, {}, 3", "scale returned 3 values"),
        ("return nil", "scale: output 1 'y': expected tensor float32 [4, 8], got nil"),
        ("return 3", "scale: output 1 'y': expected tensor float32 [4, 8], got integer 3"),
        ("return gpu.empty({ 8, 4 }, 'float32')", "expected tensor float32 [4, 8], got tensor float32 [8, 4]"),
        ("return gpu.empty({ 4, 8 }, 'float16')", "expected tensor float32 [4, 8], got tensor float16 [4, 8]"),
        ("return x", "output 1 'y' is the input 'x' itself; return a copy"),
        ("return x:view(4, 8)", "is the input 'x' itself"),
        ("return gpu.empty({ 8, 8 }, 'float32'):narrow(0, 4, 4)", "is a part of 'scratch 1 (kernels/f.lua:5)'"),
        ("return y, 3", "must return a table of what backward needs after its 1 outputs, returned integer 3"),
        ("return y, { function() end }", "scale saves function under integer 1"),
        ("return y, { [true] = 1 }", "key boolean true"),
        ("local t = {} t.t = t return y, t", "nested too deeply"),
        ("local t = {} for i = 1, 20000 do t[i] = i end return y, t", "more than 10000 values"),
    ];
    for (forward, expected) in table {
        let error = run(&candidate(forward, BACKWARD), &signature()).unwrap_err();
        assert!(error.message.contains(expected), "{forward}: {error}");
        assert!(error.message.starts_with("kernels/f.lua"), "{error}");
        assert_eq!(error.kind, PlanErrorKind::Candidate);
    }
}

#[test]
fn an_output_may_be_a_reshaped_whole_buffer() {
    let plan =
        run(&candidate("return gpu.empty({ 32 }, 'float32'):view(4, -1), nil", BACKWARD), &forward_only()).unwrap();
    let output = plan.buffers.iter().find(|buffer| buffer.role == Role::Output { index: 0 }).unwrap();
    assert_eq!(output.shape, [4, 8]);
}

#[test]
fn the_same_buffer_cannot_be_two_outputs() {
    let mut two = forward_only();
    two.outputs.push(crate::model::TensorMeta { name: "z".into(), ..two.outputs[0].clone() });
    let error = run(&candidate("return y, y", ""), &two).unwrap_err();
    assert!(error.message.contains("output 2 'z' is 'y', which is returned already"), "{error}");
    let error = run(&candidate("return y", ""), &two).unwrap_err();
    assert!(error.message.contains("scale returned 1 values, expected 2 outputs"), "{error}");
}

#[test]
fn gradients_are_checked() {
    let table = [
        ("", "scale_backward must return one table of gradients, { x = … }, returned nothing"),
        ("return dy", "returned tensor float32 [4, 8]"),
        ("return {}", "scale_backward: gradient of 'x': expected tensor float32 [4, 8], got nil"),
        ("return { x = dy }", "gradient of 'x' is the input 'dy' itself"),
        ("return { x = saved.x }", "gradient of 'x' is the input 'x' itself"),
        ("return { x = saved.deep[4] }", "gradient of 'x' is 'y', which scale made; allocate it in scale_backward"),
        ("return { x = gpu.empty({ 4 }, 'float32') }", "got tensor float32 [4]"),
        ("local d = gpu.empty_like(dy) return { x = d, w = d }", "a gradient for 'w', which has none"),
        ("local d = gpu.empty_like(dy) return { xx = d }", "did you mean 'x'?"),
        ("local d = gpu.empty_like(dy) return { d }", "a gradient for 'integer 1'"),
        ("gpu.fill(dy, 0)", "'dy' is an input and must stay as it is"),
    ];
    for (backward, expected) in table {
        let error = run(&candidate(FORWARD, backward), &signature()).unwrap_err();
        assert!(error.message.contains(expected), "{backward}: {error}");
    }
}

#[test]
fn backward_sees_only_what_was_saved() {
    let forward = "kept = { x, gpu.zeros({ 4, 8 }, 'float32') } return y, { y = y }";
    for tensor in ["kept[1]", "kept[2]", "kept[1]:flatten()"] {
        let uses = [
            format!("local d = gpu.empty({{ 32 }}, 'float32') gpu.copy(d, {tensor})"),
            format!("mod:kernel('axpy', 'float32'){{ grid = 1, block = 1, {tensor}, gpu.null, 1, 1.0 }}"),
            format!("gpu.matmul(saved.y, {tensor}:view(4, 8), {{ trans_b = true }})"),
        ];
        for used in uses {
            let error = run(&candidate(forward, &used), &signature()).unwrap_err();
            assert!(error.message.contains("which scale did not save"), "{used}: {error}");
        }
    }
}

#[test]
fn exports_are_checked() {
    let table = [
        ("", "must return a table with the function 'scale', returned nil"),
        ("return 3", "returned integer 3"),
        ("return {}", "exports no function 'scale'"),
        ("return { scal = 1 }", "did you mean 'scal'?"),
        ("return { scale = 1 }", "'scale' must be a function, is integer 1"),
        ("return { scale = function() end }", "exports no function 'scale_backward' (gradients of x are asked for)"),
        ("gpu.empty({ 1 }, 'float32')", "tensors and launches belong inside scale or scale_backward"),
        ("gpu.fill(3, 3)", "tensor must be a tensor, got integer 3"),
    ];
    for (source, expected) in table {
        let error = run(source, &signature()).unwrap_err();
        assert!(error.message.contains(expected), "{source}: {error}");
    }
}

#[test]
fn arguments_arrive_as_the_reference_gets_them() {
    let source = "local M = {} function M.scale(x, w, eps, more) assert(w == nil and eps == 0.5 and more == nil)\n\
        assert(x.name == 'x' and x.dtype == 'float32' and x.ndim == 2 and x.numel == 32 and #x.shape == 2)\n\
        assert(math.type(x.numel) == 'integer' and tostring(x) == 'x: float32 [4, 8]' and x == x:view(4, 8) and x ~= x:flatten())\n\
        return gpu.empty_like(x) end return M";
    run(source, &forward_only()).unwrap();
}
