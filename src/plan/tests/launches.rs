//! Kernels, launches, fills, copies and products.

use super::{all_fail, forward, forward_error};
use crate::model::{Arg, Node, PlanErrorKind, ScalarValue};
use crate::plan::render;

#[test]
fn launches_are_checked_while_recording() {
    all_fail(&[
        (
            "mod:kernel('axpy', 'float32'){ grid = 0, block = 1, x, y, 1, 1.0 }",
            "grid x is 0; an empty tensor needs no launch",
        ),
        ("mod:kernel('axpy', 'float32'){ grid = -1, block = 1, x, y, 1, 1.0 }", "grid x is -1, possible is 1 .."),
        (
            "mod:kernel('axpy', 'float32'){ grid = { 1, 70000 }, block = 1, x, y, 1, 1.0 }",
            "grid y is 70000, possible is 1 .. 65535",
        ),
        (
            "mod:kernel('axpy', 'float32'){ grid = 4 / 2, block = 1, x, y, 1, 1.0 }",
            "grid x must be an integer, got float 2.0; divide with //",
        ),
        ("mod:kernel('axpy', 'float32'){ grid = {}, block = 1 }", "got 0 extents"),
        ("mod:kernel('axpy', 'float32'){ grid = { 1, 1, 1, 1 }, block = 1 }", "got 4 extents"),
        (
            "mod:kernel('axpy', 'float32'){ grid = 1, block = 1025, x, y, 1, 1.0 }",
            "block x is 1025, possible is 1 .. 1024",
        ),
        (
            "mod:kernel('axpy', 'float32'){ grid = 1, block = { 32, 64 }, x, y, 1, 1.0 }",
            "has 2048 threads, at most 1024",
        ),
        ("mod:kernel('axpy', 'float32'){ block = 1, x, y, 1, 1.0 }", "grid is missing"),
        ("mod:kernel('axpy', 'float32'){ grid = 1, x, y, 1, 1.0 }", "block is missing"),
        (
            "mod:kernel('axpy', 'float32'){ grid = 1, block = 1, shared = 1 << 20, x }",
            "shared = 1048576 bytes, a block has 0 .. 232448",
        ),
        ("mod:kernel('axpy', 'float32'){ grid = 1, block = 1, shared = -1, x }", "shared = -1"),
        ("mod:kernel('axpy', 'float32'){ grid = 1, blocks = 1, x }", "unknown key 'blocks'; did you mean 'block'?"),
        ("mod:kernel('axpy', 'float32'){ grid = 1, block = 1, x, nil, 1, 1.0 }", "argument 2 is nil; pass gpu.null"),
        ("mod:kernel('axpy', 'float32'){ grid = 1, block = 1, x, 'y', 1, 1.0 }", "argument 2 must be a tensor"),
        ("mod:kernel('axpy', 'float32'){ grid = 1, block = 1, x, mod, 1, 1.0 }", "argument 2 is"),
        ("mod:kernel('axpy', 'float32')(x, y)", "takes at most 1 arguments"),
        ("mod:kernel('axpy', 'float32')()", "launch with one table"),
        ("mod.kernel('axpy')", "call it with a colon"),
        ("mod:kernel('axpy<float>')", "template arguments follow as further arguments"),
        ("mod:kernel('a;b')", "is not a kernel's name"),
        ("mod:kernel(3)", "name must be a string, got integer 3"),
        ("mod:kernel('axpy', 'float23')", "did you mean 'float32'?"),
        ("mod:kernel('axpy', 1.5)", "template argument 1 must be a dtype, an integer or a boolean, got float 1.5"),
        ("mod:kernal('axpy')", "a module has no 'kernal'; did you mean 'kernel'?"),
        ("gpu.compile('../f.cu')", "must be a path inside the candidate's folder"),
        ("gpu.compile('/etc/passwd')", "must be a path inside the candidate's folder"),
        ("gpu.compile('')", "must be a path inside the candidate's folder"),
        ("gpu.compile('link.cu')", "leads out of the candidate's folder"),
        ("gpu.compile('.')", "is not a file"),
        ("gpu.compile('g.cu')", "cannot be read beside the candidate"),
        ("gpu.compile('f.cu', { option = {} })", "did you mean 'options'?"),
        ("gpu.compile('f.cu', { options = { 3 } })", "options must be short strings, got integer 3"),
        ("gpu.compile('f.cu', { options = { a = 'b' } })", "must be a plain list"),
        ("gpu.compile('f.cu', 3)", "options must be a table"),
    ]);
}

#[test]
fn arguments_are_fitted_to_the_parameter_list() {
    all_fail(&[
        (
            "mod:kernel('axpy', 'float32'){ grid = 1, block = 1, x, y, 1, 1 }",
            "kernels/f.lua:2: kernel axpy<float>: argument 4: parameter is float, got integer 1; write 1.0",
        ),
        (
            "mod:kernel('axpy', 'float32'){ grid = 1, block = 1, x, y, 1.0, 1.0 }",
            "argument 3: parameter is int, got float 1.0; write an integer",
        ),
        (
            "mod:kernel('axpy', 'float32'){ grid = 1, block = 1, x, y, 1 << 31, 1.0 }",
            "got integer 2147483648, which is out of range",
        ),
        (
            "mod:kernel('axpy', 'float32'){ grid = 1, block = 1, x, y, 1, 1e300 }",
            "got float 1e300, which is out of range",
        ),
        (
            "mod:kernel('axpy', 'float32'){ grid = 1, block = 1, x, y, 1 }",
            "takes 4 arguments (const float*, float*, int, float), got 3 (a trailing nil vanishes",
        ),
        ("mod:kernel('axpy', 'float32'){ grid = 1, block = 1, x, y, 1, 1.0, 2 }", "got 5"),
        (
            "mod:kernel('axpy', 'bfloat16'){ grid = 1, block = 1, x, y, 1, 1.0 }",
            "argument 1: parameter is const __nv_bfloat16*, got a float32 tensor",
        ),
        (
            "mod:kernel('axpy', 'float32'){ grid = 1, block = 1, x, y, x, 1.0 }",
            "argument 3: parameter is int, got a float32 tensor",
        ),
        (
            "mod:kernel('axpy', 'float32'){ grid = 1, block = 1, x, 0, 1, 1.0 }",
            "argument 2: parameter is float*, got integer 0",
        ),
        ("mod:kernel('axpy', 'float32'){ grid = 1, block = 1, x, y, true, 1.0 }", "got boolean true"),
        ("mod:kernel('axpy', 'float32'){ grid = 1, block = 1, x, y, gpu.i64(1), 1.0 }", "got a scalar of 8 bytes (1)"),
        (
            "mod:kernel('odd'){ grid = 1, block = 1, true, 1, 1.0, x, 1, 1 }",
            "argument 5: parameter is a struct of 12 bytes, which cannot be passed",
        ),
        ("mod:kernel('none'){ grid = 1, block = 1 }", "kernels/f.cu:1: no kernel 'none'"),
    ]);
    let plan = forward(
        "mod:kernel('axpy', 'float32'){ grid = { 2, 3 }, block = { 4, 5, 6 }, shared = 64, x:narrow(0, 1, 2), gpu.null, gpu.i32(-7), gpu.f32(1) }",
    );
    let Node::Launch { grid, block, shared_bytes, args, .. } = &plan.forward[0] else { panic!() };
    assert_eq!((grid, block, *shared_bytes), (&[2, 3, 1], &[4, 5, 6], 64));
    let place = crate::model::BufferRef { buffer: 0, byte_offset: 32 };
    let float = Arg::Scalar(ScalarValue::F32Bits(1f32.to_bits()));
    assert_eq!(args, &[Arg::Buffer(place), Arg::Null, Arg::Scalar(ScalarValue::I32(-7)), float]);
    let shown = render(&plan);
    assert!(
        shown.contains("axpy<float> grid 2×3×1 block 4×5×6 shared 64 (x+32B, null, -7, 1.0)  kernels/f.lua:2"),
        "{shown}"
    );
}

#[test]
fn nan_and_infinity_are_values() {
    let plan = forward("mod:kernel('axpy', 'float32'){ grid = 1, block = 1, x, y, 1, 0/0 } gpu.fill(y, -1/0)");
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<crate::model::Plan>(&text).unwrap(), plan);
    assert!(
        matches!(&plan.forward[1], Node::Fill { value: ScalarValue::F32Bits(bits), .. } if *bits == f32::NEG_INFINITY.to_bits())
    );
}

#[test]
fn kernels_that_are_not_launched_are_not_compiled() {
    let plan = forward("mod:kernel('none') gpu.compile('f.cu', { options = { '-DA' } }):kernel('none')");
    assert!(plan.modules.is_empty());
}

#[test]
fn one_module_per_file_and_options() {
    let plan = forward(
        "for _, options in ipairs{ { '-DA' }, { '-DA' }, { '-DB' } } do \
         gpu.compile('f.cu', { options = options }):kernel('axpy', 'float32'){ grid = 1, block = 1, x, y, 1, 1.0 } end",
    );
    assert_eq!(plan.modules.len(), 2);
}

#[test]
fn tensors_are_strict() {
    all_fail(&[
        ("local v = x.shap", "a tensor has no 'shap'; did you mean 'shape'?"),
        ("local v = x[1]", "it has no data"),
        ("x:view(3, 8)", "does not hold the 32 elements of float32 [4, 8]"),
        ("x:view(-1, -1)", "more than one -1"),
        ("x:view(-1, 0)", "does not hold"),
        ("x:view(-2, -16)", "does not hold"),
        ("x:view({ 4, 8.0 })", "must be an integer, got float 8.0"),
        ("x:view(1 << 62, 1 << 62)", "does not hold"),
        ("x:narrow(1, 0, 1)", "dim must be 0"),
        ("x:narrow(0, 3, 2)", "do not lie in 0 .. 4"),
        ("x:narrow(0, -1, 2)", "do not lie in"),
        ("x:narrow(0, 1 << 62, 1 << 62)", "do not lie in"),
        ("gpu.empty({}, 'float32'):narrow(0, 0, 0)", "without dimensions"),
        ("gpu.empty({ 4, nil, 8 }, 'float32')", "must be a plain list"),
        ("gpu.empty({ -4 }, 'float32')", "negative extent"),
        ("gpu.empty({ 4.0 }, 'float32')", "must be an integer"),
        ("gpu.empty({ n = 4 }, 'float32')", "must be a plain list"),
        ("gpu.empty('4', 'float32')", "must be a list of integers, got string \"4\""),
        ("gpu.empty(4)", "dtype must be a string"),
        ("gpu.empty(4, 'bf16')", "unknown dtype 'bf16'"),
        ("gpu.empty(4, 'float32', 1)", "takes at most 2 arguments, got 3"),
        ("gpu.emtpy(4, 'float32')", "gpu has no 'emtpy'; did you mean 'empty'?"),
        ("gpu.cdiv(1, 0)", "b >= 1"),
        ("gpu.cdiv(1.0, 1)", "must be an integer"),
        ("gpu.i32(1 << 31)", "out of range"),
        ("gpu.u32(-1)", "out of range"),
        ("gpu.f32(1e39)", "out of range"),
        ("gpu.f32('1')", "must be a number"),
        ("local v = gpu.null.x", "gpu.null has no 'x'"),
        ("local v = gpu.device.name", "gpu.device has no 'name'"),
    ]);
    forward("assert(gpu.cdiv(0, 4) == 0 and gpu.cdiv(5, 4) == 2 and gpu.cdiv(math.maxinteger, 1) == math.maxinteger)");
    forward(
        "local e = gpu.empty({ 0, 3 }, 'bool') assert(e.numel == 0 and e:narrow(0, 0, 0).numel == 0 and e:view(3, 0).ndim == 2)",
    );
    forward(
        "assert(gpu.empty({}, 'float32').numel == 1 and x:view(-1).numel == 32 and x:view{ 2, -1 }.shape[2] == 16)",
    );
}

#[test]
fn fills_copies_and_products_are_checked() {
    all_fail(&[
        ("gpu.fill(x, 0)", "'x' is an input and must stay as it is"),
        ("gpu.copy(x, y)", "'x' is an input and must stay as it is"),
        (
            "gpu.matmul(x, y, { trans_b = true, out = x:view(4, 8):narrow(0, 0, 2):view(4, 4) })",
            "out must not be a or b",
        ),
        ("gpu.fill(y:narrow(0, 0, 2), 0)", "gpu.fill sets whole tensors"),
        ("gpu.fill(y, true)", "a float32 value must be a number, got boolean true"),
        ("gpu.full(4, 1.5, 'int32')", "a int32 value must be an integer, got float 1.5"),
        ("gpu.full(4, 128, 'int8')", "a int8 value must be in range, got integer 128"),
        ("gpu.full(4, 1e6, 'float16')", "a float16 value must be in range"),
        ("gpu.full(4, 1, 'bool')", "must be true or false"),
        ("gpu.copy(y, gpu.empty({ 4 }, 'float32'))", "number of elements must be the same"),
        ("gpu.copy(y, gpu.empty({ 4, 8 }, 'int32'))", "dtype and number of elements must be the same"),
        ("gpu.copy(y:narrow(0, 0, 3), y:narrow(0, 1, 3))", "overlap"),
        ("gpu.copy(y)", "src must be a tensor, got nil"),
        ("gpu.matmul(x, y)", "inner extents differ: 8 and 4"),
        ("gpu.matmul(x, gpu.empty({ 8, 2 }, 'float16'))", "same floating dtype"),
        ("gpu.matmul(x, gpu.empty({ 8 }, 'float32'))", "at least two dimensions"),
        ("gpu.matmul(x, y, { transb = true })", "did you mean 'trans_b'?"),
        ("gpu.matmul(x, y, { trans_b = 1 })", "must be true or false"),
        ("gpu.matmul(x, y, { trans_b = true, out = y })", "out must be float32 [4, 4], got float32 [4, 8]"),
        (
            "gpu.matmul(gpu.empty({ 2, 3, 4 }, 'float32'), gpu.empty({ 3, 4, 5 }, 'float32'))",
            "leading dimensions must be equal",
        ),
    ]);
    let plan = forward(
        "local a, b = gpu.zeros({ 2, 3, 4, 5 }, 'float32'), gpu.full({ 5, 7 }, 1, 'float32')\n\
         assert(table.concat(gpu.matmul(a, b).shape, ' ') == '2 3 4 7')\n\
         local c = gpu.matmul(x, x, { trans_a = true }) assert(c.shape[1] == 8 and c.shape[2] == 8)\n\
         gpu.copy(y:narrow(0, 0, 2), y:narrow(0, 2, 2))",
    );
    let products: Vec<_> = plan
        .forward
        .iter()
        .filter_map(|node| match node {
            Node::Matmul { m, n, k, batch, trans_a, trans_b, .. } => Some((*m, *n, *k, *batch, *trans_a, *trans_b)),
            _ => None,
        })
        .collect();
    assert_eq!(products, [(24, 7, 5, 1, false, false), (8, 8, 4, 1, true, false)]);
}

#[test]
fn the_kind_says_whose_fault_it_is() {
    let kind = |body: &str| {
        let source = format!(
            "local mod = gpu.compile('f.cu') return {{ scale = function(x) local y = gpu.empty_like(x) {body} return y end }}"
        );
        super::run(&source, &super::forward_only()).unwrap_err().kind
    };
    assert_eq!(kind("error('x')"), PlanErrorKind::Candidate);
    assert_eq!(kind("gpu.compile('g.cu')"), PlanErrorKind::Compile);
    assert_eq!(kind("mod:kernel('none'){ grid = 1, block = 1 }"), PlanErrorKind::Compile);
    assert_eq!(kind("mod:kernel('odd'){ grid = 0, block = 1 }"), PlanErrorKind::Launch);
    assert_eq!(kind("mod:kernel('odd'){ grid = 1, block = 1 }"), PlanErrorKind::Launch);
}

#[test]
fn messages_survive_tail_calls() {
    let message = forward_error("local function f() return gpu.empty({ -1 }, 'float32') end f()");
    assert!(message.starts_with("kernels/f.lua:2:"), "{message}");
}
