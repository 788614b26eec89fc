//! Drawing inputs and running references.

use super::*;
use crate::truth::Tensor;

const SCALE: &str = r#"
return {
  summary = "Scales.",
  params = {
    { "x", "float[..., n]" },
    { "w", "float[n]", optional = true },
    { "labels", "int64[n]", range = { -3, "n+1" } },
    { "mask", "bool[n]" },
    { "unused", "float[n]" },
    { "constant", "float[n]" },
    { "gain", 2.0 },
  },
  returns = { "float[..., n]", "int64[n]" },
  no_grad = { "constant" },
  inputs = { constant = function(draw, c, rng) return draw:abs() + 1 end },
  reference = function(x, w, labels, mask, unused, constant, gain)
    local y = x:upcast() * gain * constant:upcast()
    if w then y = y * w:upcast() end
    return y:to(x.dtype), labels
  end,
  bytes = function(c) return 0, 0 end,
  flops = function(c) return 0, 0 end,
}"#;

fn evaluate(op: &Op, case: &Case, dtype: DType) -> Result<Evaluation, HostError> {
    let inputs = op.draw(case, 0)?;
    let cotangents = op.draw_cotangents(case, 0)?;
    op.evaluate(case, &inputs, Some(&cotangents), dtype)
}

/// The error of evaluating SCALE with one piece replaced.
fn fault(from: &str, to: &str) -> String {
    assert!(SCALE.contains(from), "{from}");
    let (_folder, host) = host(&[("x", &SCALE.replacen(from, to, 1))]);
    let op = Op::load(&host, "x").unwrap();
    let case = op.parse_case("n=4,batch=(2,),float16").unwrap();
    let error = evaluate(&op, &case, DType::F16).unwrap_err();
    assert_eq!(error.kind, HostErrorKind::Script);
    assert_eq!(error.message.lines().count(), 1);
    error.message
}

#[test]
fn draws_have_the_declared_types_and_depend_on_case_seed_and_name_only() {
    let (_folder, host) = host(&[("x", SCALE)]);
    let op = Op::load(&host, "x").unwrap();
    let case = op.parse_case("n=40,batch=(3,),bfloat16,+w").unwrap();
    let draw = |case: &Case, seed| op.draw(case, seed).unwrap();
    let inputs = draw(&case, 7);
    let described: Vec<String> = inputs.iter().map(|(name, tensor)| format!("{name} {}", tensor.describe())).collect();
    let declared = [
        "x bfloat16[3, 40]",
        "w bfloat16[40]",
        "labels int64[40]",
        "mask bool[40]",
        "unused bfloat16[40]",
        "constant bfloat16[40]",
    ];
    assert_eq!(described, declared);
    let bytes = |inputs: &[(String, Tensor)], i: usize| inputs[i].1.to_bytes();
    assert_eq!(bytes(&draw(&case, 7), 0), bytes(&inputs, 0));
    assert_ne!(bytes(&draw(&case, 8), 0), bytes(&inputs, 0));
    assert_ne!(bytes(&inputs, 1), bytes(&inputs, 4));
    let labels = inputs[2].1.as_i64_vec();
    assert!(labels.iter().all(|label| (-3..41).contains(label)), "{labels:?}");
    assert!(inputs[5].1.as_f64_vec().iter().all(|&value| value >= 1.0));

    let cotangents = op.draw_cotangents(&case, 7).unwrap();
    assert_eq!(cotangents[0].as_ref().unwrap().describe(), "bfloat16[3, 40]");
    assert!(cotangents[1].is_none());
    assert_ne!(cotangents[0].as_ref().unwrap().to_bytes(), bytes(&inputs, 0));
}

#[test]
fn rounding_agrees_with_the_tensor_engine() {
    let (_folder, host) = host(&[("x", SCALE)]);
    let op = Op::load(&host, "x").unwrap();
    for dtype in ["float16", "bfloat16"] {
        let case = op.parse_case(&format!("n=20000,{dtype}")).unwrap();
        let rounded = &op.draw(&case, 0).unwrap()[0].1;
        let id = crate::case::case_id(&case);
        let stream = crate::case::Stream::new(crate::case::StreamKey { case_id: &id, seed: 0, name: "x", draw: 0 });
        let exact = normal(&[20_000], stream).unwrap();
        assert_eq!(rounded.to_bytes(), exact.to_dtype(case.dtype).unwrap().to_bytes());
    }
}

#[test]
fn truth_is_float64_and_the_honest_run_keeps_the_dtype() {
    let (_folder, host) = host(&[("x", SCALE)]);
    let op = Op::load(&host, "x").unwrap();
    let case = op.parse_case("n=5,batch=(2,),float16,+w").unwrap();
    let truth = evaluate(&op, &case, DType::F64).unwrap();
    assert_eq!(truth.outputs[0].describe(), "float64[2, 5]");
    assert_eq!(truth.outputs[1].dtype(), DType::I64);
    let names: Vec<&str> = truth.grads.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["x", "w", "unused"]);
    assert_eq!(truth.grads[1].1.as_ref().unwrap().describe(), "float64[5]");
    assert!(truth.grads[2].1.is_none());
    assert!(!truth.outputs[0].is_tracked());

    let honest = evaluate(&op, &case, DType::F16).unwrap();
    assert_eq!(honest.outputs[0].describe(), "float16[2, 5]");
    assert_eq!(honest.grads[0].1.as_ref().unwrap().describe(), "float16[2, 5]");
    for (a, b) in truth.outputs[0].as_f64_vec().into_iter().zip(honest.outputs[0].as_f64_vec()) {
        assert!((a - b).abs() <= a.abs() * 1e-3, "{a} {b}");
    }

    let forward = op.evaluate(&case, &op.draw(&case, 0).unwrap(), None, DType::F64).unwrap();
    assert!(forward.grads.is_empty());
}

#[test]
fn faults_of_a_reference_are_one_line_with_the_place() {
    let body = "return y:to(x.dtype), labels";
    let table = [
        (
            body,
            "return y:to(x.dtype)",
            "ops/x.lua: the reference returned 1 values, 'returns' declares 2, at n=4,batch=(2,),float16,gain=2.0",
        ),
        (
            body,
            "return y, labels",
            "ops/x.lua: output 1 of the reference is float32[2, 4], declared float16[2, 4], at n=4,batch=(2,),float16,gain=2.0",
        ),
        (
            body,
            "return y:sum(-1):to(x.dtype), labels",
            "ops/x.lua: output 1 of the reference is float16[2], declared float16[2, 4], at n=4,batch=(2,),float16,gain=2.0",
        ),
        (
            body,
            "return 7, labels",
            "ops/x.lua: output 1 of the reference is a integer, declared float16[2, 4], at n=4,batch=(2,),float16,gain=2.0",
        ),
        (body, "error('broken')", "ops/x.lua:19: broken"),
        (body, "return y.foo", "ops/x.lua:19: tensor: no field or method 'foo'"),
        (
            body,
            "while true do end",
            "ops/x.lua:19: the reference ran longer than 0.3 s; make it terminate, or name a smaller case",
        ),
        (
            body,
            "while true do pcall(function() while true do end end) end",
            "ops/x.lua:19: the reference ran longer than 0.3 s; make it terminate, or name a smaller case",
        ),
        (
            "draw:abs() + 1",
            "draw:sum()",
            "ops/x.lua: inputs.constant: expected a float tensor of shape [4], got float32[]",
        ),
        (
            "draw:abs() + 1",
            "draw:gt(0)",
            "ops/x.lua: inputs.constant: expected a float tensor of shape [4], got bool[4]",
        ),
        ("draw:abs() + 1", "3", "ops/x.lua: inputs.constant: expected a tensor, got integer"),
        ("draw:abs() + 1", "rng:randint(3, 3, { 4 })", "ops/x.lua:15: rng:randint: the range 3 .. 3 is empty"),
        (
            "draw:abs() + 1",
            "rng:uniform({ x = 4 })",
            "ops/x.lua:15: rng:uniform: shape: expected a list, got a table with the key 'x'",
        ),
        ("draw:abs() + 1", "c.dims.m", "ops/x.lua:15: case.dims has no field 'm'"),
        (
            "{ -3, \"n+1\" }",
            "{ 5, \"n\" }",
            "ops/x.lua: labels: the range 5 .. 4 is empty at n=4,batch=(2,),float16,gain=2.0",
        ),
    ];
    for (from, to, message) in table {
        let got = fault(from, to);
        assert!(got.starts_with(message), "{to}: {got}");
    }
}

#[test]
fn inputs_that_do_not_fit_are_refused() {
    let (_folder, host) = host(&[("x", SCALE)]);
    let op = Op::load(&host, "x").unwrap();
    let case = op.parse_case("n=4,float32").unwrap();
    let mut inputs = op.draw(&case, 0).unwrap();
    let removed = inputs.remove(0);
    let error = op.evaluate(&case, &inputs, None, DType::F64).unwrap_err();
    assert_eq!(error.message, "ops/x.lua: input 'x' is missing");
    inputs.push((removed.0, Tensor::from_f64(&[3], &[0.0; 3]).unwrap()));
    let error = op.evaluate(&case, &inputs, None, DType::F64).unwrap_err();
    assert_eq!(error.message, "ops/x.lua: input 'x' must be float64[4], got float64[3]");
}

#[test]
fn every_draw_of_an_rng_is_its_own_stream_and_repeats() {
    let twice = "(function() local a, b = rng:normal({ 4 }), rng:normal({ 4 }); assert(not a:equal(b)); assert(not a:equal(draw)); \
                 local u, k = rng:uniform({ 64 }), rng:randint(2, 5, { 64 }); \
                 assert(u:min():item() >= 0 and u:max():item() < 1 and k:min():item() == 2 and k:max():item() == 4); \
                 return a + b end)()";
    let (_folder, host) = host(&[("x", &SCALE.replacen("draw:abs() + 1", twice, 1))]);
    let op = Op::load(&host, "x").unwrap();
    let case = op.parse_case("n=4,float32").unwrap();
    assert_eq!(op.draw(&case, 1).unwrap()[4].1.to_bytes(), op.draw(&case, 1).unwrap()[4].1.to_bytes());
}
