mod evaluate;
mod library;

use std::fs;

use super::*;
use crate::host::{Host, HostError, HostErrorKind, Settings, Workspace};
use crate::model::{Argument, Case, DType, Scalar};

/// A host over a workspace with the given op files.
fn host(ops: &[(&str, &str)]) -> (tempfile::TempDir, Host) {
    let folder = tempfile::tempdir().unwrap();
    for dir in ["ops", "scripts"] {
        fs::create_dir_all(folder.path().join(dir)).unwrap();
    }
    for (name, source) in ops {
        fs::write(folder.path().join(format!("ops/{name}.lua")), source).unwrap();
    }
    let workspace = Workspace::discover(folder.path(), &folder.path().join("cache"));
    let settings = Settings { reference_limit: std::time::Duration::from_millis(300), ..Settings::default() };
    let host = Host::new(workspace, settings).unwrap();
    (folder, host)
}

const NORM: &str = r#"
return {
  summary = "A norm.",
  params = {
    { "x", "float[..., n]" },
    { "bias", "float[n]", optional = true },
    { "labels", "int64[n, m]", range = { 0, "n-1" } },
    { "eps", 1e-6, values = { 1e-6, 1e-5 } },
    { "mode", "", values = { "", "tanh" } },
    { "scale", popcorn.null, values = { popcorn.null, 0.5 } },
  },
  returns = function(c) return { "float[..., n]", c.args.mode == "tanh" and "float32[]" or "float[m]" } end,
  no_grad = {},
  domain = function(c)
    if c.dims.n < c.dims.m then return false, "n must be at least m" end
    return true
  end,
  reference = function(x) return x end,
  bytes = function(c) return c.bytes.x + c.bytes.bias, 0 end,
  flops = function(c) return c.numel.x, 2 * c.numel.x end,
}"#;

fn load(source: &str) -> Result<Op, HostError> {
    let (_folder, host) = host(&[("x", source)]);
    Op::load(&host, "x")
}

/// The op file with one piece replaced.
fn edited(from: &str, to: &str) -> String {
    assert!(NORM.contains(from), "{from}");
    load(&NORM.replacen(from, to, 1)).unwrap_err().message
}

#[test]
fn an_op_file_becomes_a_typed_spec_and_a_signature() {
    let (_folder, host) = host(&[("x", NORM)]);
    let op = Op::load(&host, "x").unwrap();
    assert_eq!(op.spec.dims().into_iter().collect::<Vec<_>>(), ["m", "n"]);
    let case = op.parse_case("bfloat16,m=2,batch=(4,),n=3,+bias").unwrap();
    assert_eq!(case.to_string(), "m=2,n=3,batch=(4,),bfloat16,eps=1e-06,mode=,scale=None,+bias");
    assert_eq!(op.parse_case(&case.to_string()), Ok(case.clone()));
    let signature = op.signature(&case).unwrap();
    assert_eq!(signature.grads, ["x", "bias"]);
    let shapes: Vec<_> = op.input_metas(&case).unwrap().into_iter().map(|meta| meta.shape).collect();
    assert_eq!(shapes, [vec![4, 3], vec![3], vec![3, 2]]);
    assert_eq!(signature.args[5], Argument::Scalar { name: "scale".into(), value: Scalar::None });
    assert_eq!(signature.outputs[1].shape, [2]);
    assert_eq!(signature.outputs[1].dtype, DType::BF16);
    assert_eq!(op.bytes(&case).unwrap(), Work { forward: 30.0, backward: 0.0 });
    assert_eq!(op.flops(&case).unwrap(), Work { forward: 12.0, backward: 24.0 });

    let bare: Case = op.parse_case("m=2,n=3,float32,mode=tanh").unwrap();
    assert_eq!(op.grads(&bare), ["x"]);
    assert_eq!(op.arguments(&bare).unwrap()[1], Argument::Absent { name: "bias".into() });
    assert_eq!((op.output_metas(&bare).unwrap()[1].dtype, bare.batch.len()), (DType::F32, 0));
    assert_eq!(op.bytes(&bare).unwrap().forward, 12.0);
}

#[test]
fn mistakes_in_an_op_file_are_one_line_with_the_place() {
    let table = [
        ("summary =", "sumary =", "ops/x.lua: unknown key 'sumary'; did you mean 'summary'?"),
        (
            "optional = true",
            "optional = 'yes'",
            "ops/x.lua: params[2].optional: expected a boolean, got string \"yes\"",
        ),
        ("optional = true", "optionl = true", "ops/x.lua: params[2]: unknown key 'optionl'; did you mean 'optional'?"),
        (
            "\"float[n]\"",
            "\"flaot[n]\"",
            "ops/x.lua: params[2][2]: 'flaot[n]': 'flaot' is neither float (the case's dtype) nor a dtype",
        ),
        (
            ", range = { 0, \"n-1\" }",
            "",
            "ops/x.lua: params[3]: integer tensor 'labels' needs its range, such as range = { 0, \"vocab\" }",
        ),
        ("\"n-1\"", "\"k\"", "ops/x.lua: params 'labels': range: unknown dim 'k'; known: m n"),
        ("\"n-1\"", "1.5", "ops/x.lua: params[3].range[2]: expected an integer or a dim, got 1.5"),
        (
            "values = { 1e-6, 1e-5 }",
            "values = { 1e-5 }",
            "ops/x.lua: params[4].values: the default 1e-06 must come first",
        ),
        (
            "values = { 1e-6, 1e-5 }",
            "values = { 1e-6, 1 }",
            "ops/x.lua: params[4].values[2]: 1 is not of the same kind as the others",
        ),
        ("{ \"eps\", 1e-6", "{ \"x\", 1e-6", "ops/x.lua: params[4]: a second parameter 'x'"),
        (
            "{ \"eps\", 1e-6",
            "{ \"n\", 1e-6",
            "ops/x.lua: 'n' is both a dim and a scalar; a case could not tell them apart",
        ),
        (
            "{ \"eps\", 1e-6",
            "{ \"eps\", print",
            "ops/x.lua: params[4][2]: expected a string, a number, a boolean, a list of integers or popcorn.null, got a function",
        ),
        ("no_grad = {}", "no_grad = { 'labels' }", "ops/x.lua: no_grad[1]: 'labels' is not a float tensor"),
        ("no_grad = {}", "no_grad = { 'bais' }", "ops/x.lua: no_grad[1]: unknown tensor 'bais'; did you mean 'bias'?"),
        ("no_grad = {}", "inputs = { y = print }", "ops/x.lua: inputs: unknown tensor 'y'; known: x bias labels"),
        (
            "no_grad = {}",
            "tolerance = { float23 = 1 }",
            "ops/x.lua: tolerance: unknown value 'float23'; one of: float64 float32 float16 bfloat16 int64 int32 int8 bool",
        ),
        (
            "no_grad = {}",
            "tolerance = { float16 = -1 }",
            "ops/x.lua: tolerance.float16: expected a positive bound of a float dtype, got -1",
        ),
        (
            "no_grad = {}",
            "impls = { popcorn = '../x' }",
            "ops/x.lua: impls: '../x' is not a module in kernels/; write the file name without .lua",
        ),
        ("no_grad = {}", "returns = {}", "ops/x.lua: returns: expected at least one output type, got an empty list"),
        (
            "reference = function(x) return x end",
            "reference = 3",
            "ops/x.lua: reference: expected a function, got integer 3",
        ),
        ("\"A norm.\"", "nrom", "ops/x.lua:3: undefined global 'nrom'"),
        ("\"A norm.\"", "popcorn.jsn", "ops/x.lua:3: popcorn has no field 'jsn'; did you mean 'json'?"),
        ("return {", "y = 1; return {", "ops/x.lua:2: assignment to undefined global 'y'; write 'local y'"),
        ("return {", "return {,", "ops/x.lua:2: unexpected symbol near ','"),
        (
            "return {",
            "while true do end return {",
            "ops/x.lua:2: loading ops/x.lua ran longer than 0.3 s; an op file only returns a table",
        ),
        ("return {", "error('no') return {", "ops/x.lua:2: no"),
    ];
    for (from, to, message) in table {
        assert_eq!(edited(from, to), message);
    }
    let types = edited(
        "returns = function(c) return { \"float[..., n]\", c.args.mode == \"tanh\" and \"float32[]\" or \"float[m]\" } end",
        "returns = { 'float[k]' }",
    );
    assert_eq!(types, "ops/x.lua: returns[1]: 'float[k]': unknown dim 'k'; known: m n");
    assert_eq!(load("return 7").unwrap_err().message, "ops/x.lua: expected a table, got integer 7");
    assert_eq!(load("\x1bLua").unwrap_err().message, "ops/x.lua: attempt to load a binary chunk (mode is 't')");
}

#[test]
fn an_unknown_op_is_a_usage_error_with_the_nearest_names() {
    let (_folder, host) = host(&[]);
    let error = Op::load(&host, "sotfmax").unwrap_err();
    assert_eq!(error.kind, HostErrorKind::Usage);
    assert_eq!(error.message, "no op 'sotfmax'; did you mean softmax?");
    assert_eq!(Op::load(&host, "../x").unwrap_err().message, "no op '../x'; `popcorn op list` shows all ops");
}

#[test]
fn malformed_cases_name_the_word_and_what_is_known() {
    let (_folder, host) = host(&[("x", NORM)]);
    let op = Op::load(&host, "x").unwrap();
    let table = [
        ("float32", "missing: m n"),
        ("m=1", "missing: n and a dtype (float32, float16, bfloat16)"),
        ("m=1,n=2", "missing: a dtype (float32, float16, bfloat16)"),
        ("m=1,n=2,int64", "a case's dtype is a float, got int64"),
        ("m=1,n=x,float32", "n=x: expected a whole number"),
        ("m=1,n=-2,float32", "n=-2: expected a whole number"),
        ("m=1,n=2,k=3,float32", "x has no 'k' (known: m n eps mode scale)"),
        ("m=1,n=2,float32,esp=1", "x has no 'esp' (known: m n eps mode scale); did you mean 'eps'?"),
        ("m=1,n=2,float32,eps=big", "eps=big: not one of '1e-06' '1e-05'"),
        ("m=1,n=2,float32,mode=tnah", "mode=tnah: not one of '' 'tanh'; did you mean 'tanh'?"),
        ("m=1,n=2,float32,eps=None", "eps=None: not one of '1e-06' '1e-05'"),
        ("m=1,n=2,float32,+bais", "'+bais' is no optional tensor of x (optional: bias); did you mean 'bias'?"),
        ("m=3,n=2,float32", "outside the domain of x: n must be at least m"),
        ("m=9999999999,n=9999999999,float32", "labels: int64[n, m] has too many elements"),
    ];
    for (text, part) in table {
        let error = op.parse_case(text).unwrap_err();
        assert!(error.to_string().starts_with(&format!("case '{text}': {part}")), "{error}");
    }
    assert_eq!(op.parse_case("m=1,n=2,float32,eps=1").unwrap().args["eps"], Scalar::Float(1.0));
    assert_eq!(op.parse_case("m=1,n=2,float32,scale=0.25").unwrap().args["scale"], Scalar::Float(0.25));
    assert_eq!(op.parse_case("m=0,n=0,float32").unwrap().dims["n"], 0);
}

#[test]
fn a_case_written_as_a_table_is_checked_like_its_text() {
    let (_folder, host) = host(&[("x", NORM)]);
    let run = |case: &str| {
        let source = format!("return tostring(popcorn.op.load('x'):case {{ {case} }})");
        host.lua().load(source).set_name("@t").eval::<String>().map_err(|error| HostError::from(error).message)
    };
    let full = "dims = { m = 1, n = 2 }, batch = { 3 }, dtype = 'float16', args = { eps = 1e-5, scale = popcorn.null }, present = { 'bias' }";
    assert_eq!(run(full).unwrap(), "m=1,n=2,batch=(3,),float16,eps=1e-05,mode=,scale=None,+bias");
    let table = [
        ("dims = { m = 1, n = 2 }", "t:1: op:case: missing key 'dtype'"),
        (
            "dims = { m = 1.0, n = 2 }, dtype = 'float16'",
            "t:1: op:case: dims.m: expected a whole number of at least 0, got number 1.0",
        ),
        ("dims = { m = 1 }, dtype = 'float16'", "missing: n"),
        (
            "dims = { m = 1, n = 2 }, dtype = 'half'",
            "t:1: op:case: dtype: unknown value 'half'; one of: float64 float32 float16 bfloat16 int64 int32 int8 bool",
        ),
        (
            "dims = { m = 1, n = 2 }, dtype = 'float16', args = { eps = {} }",
            "t:1: op:case: args.eps: expected a string, a number, a boolean, a list of integers or popcorn.null, got a table",
        ),
        ("dims = { m = 1, n = 2 }, dtype = 'float16', args = { eps = 0/0 }", "eps=nan: not a finite number"),
        (
            "dims = { m = 1, n = 2 }, dtype = 'float16', batch = { x = 1 }",
            "t:1: op:case: batch: expected a list, got a table with the key 'x'",
        ),
        ("dims = { m = 1, n = 2 }, dtyp = 'float16'", "t:1: op:case: unknown key 'dtyp'; did you mean 'dtype'?"),
    ];
    for (case, message) in table {
        assert_eq!(run(case).unwrap_err(), message, "{case}");
    }
}
