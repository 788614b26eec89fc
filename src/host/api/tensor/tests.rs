//! The module as scripts see it.

use mlua::{Function, Lua, Value};

use super::LuaTensor;
use crate::model::DType;
use crate::truth::{Tensor, grad};

fn vm() -> Lua {
    let lua = Lua::new();
    super::install(&lua, &lua.create_table().expect("a table")).expect("installs");
    lua
}

/// Runs a chunk of assertions.
fn run(code: &str) {
    if let Err(error) = vm().load(code).set_name("@test.lua").exec() {
        panic!("{error}");
    }
}

/// The message of the error that a chunk raises.
fn failure(code: &str) -> String {
    let error = vm().load(code).set_name("@ops/x.lua").exec().expect_err(code);
    let mut cause = &error;
    while let mlua::Error::CallbackError { cause: inner, .. } = cause {
        cause = inner;
    }
    match cause {
        mlua::Error::RuntimeError(message) => message.clone(),
        other => other.to_string(),
    }
}

#[test]
fn rms_norm_reference_runs_forward_and_backward() {
    let lua = vm();
    let reference: Function = lua
        .load(
            "return function(x, weight, bias, eps)
                local h = x:upcast()
                local y = h * (h:square():mean(-1, true) + eps):rsqrt() * weight:upcast()
                if bias then y = y + bias:upcast() end
                return y:to(x.dtype)
            end",
        )
        .eval()
        .expect("a function");
    for dtype in [DType::F64, DType::BF16] {
        let values: Vec<f64> = (0..15).map(|i| f64::from(i) * 0.37 - 2.0).collect();
        let leaf = |shape: &[usize], values: &[f64]| {
            Tensor::from_f64(shape, values)
                .and_then(|x| x.to_dtype(dtype))
                .and_then(|x| x.requires_grad())
                .expect("a leaf")
        };
        let (x, weight) = (leaf(&[3, 5], &values), leaf(&[5], &values[..5]));
        let y: LuaTensor = reference
            .call((LuaTensor::new(x.clone()), LuaTensor::new(weight.clone()), Value::Nil, 1e-6))
            .expect("the reference runs");
        assert_eq!((y.0.dtype(), y.0.shape()), (dtype, &[3, 5][..]));
        let cotangent = Tensor::ones(&[3, 5], dtype).expect("ones");
        let grads = grad(&[y.0], &[cotangent], &[x.clone(), weight]).expect("gradients");
        let dx = grads[0].as_ref().expect("x is used");
        assert_eq!((dx.dtype(), dx.shape()), (dtype, x.shape()));
    }
}

#[test]
fn fields_operators_and_slicing() {
    run("
        local x = tensor.arange(6):reshape(2, 3)
        assert(x.shape[1] == 2 and #x.shape == 2 and x.dtype == 'int64' and x.numel == 6 and x.ndim == 2)
        assert(x.T.shape[1] == 3 and x.mT:equal(x.T))
        assert((x + 1):equal(1 + x) and (2 - x):equal(-(x - 2)) and (x * 2 // 2):equal(x))
        assert((x / 2).dtype == 'float32' and (x % 2):sum():item() == 3 and (x ^ 2):equal(x:square()))
        assert(x:slice(1, 0, nil, 2):equal(tensor.tensor({{0, 2}, {3, 5}})))
        assert(x:slice(1, -2):equal(x:narrow(1, 1, 2)) and x:select(0, -1):equal(tensor.tensor({3, 4, 5})))
        local a, b = x:split(2, 1)
        assert(a.shape[2] == 2 and b.shape[2] == 1)
        local values, places = x:max(1)
        assert(values:equal(tensor.tensor({2, 5})) and places:equal(tensor.tensor({2, 2})))
        assert(x:tolist()[2][3] == 5 and math.type(x:tolist()[1][1]) == 'integer')
        assert(tensor.softmax(x:to('float64'), 1):sum(1):allclose(tensor.ones(2, { dtype = 'float64' })))
        assert(tensor.einsum('ij,kj->ik', x, x):equal(x:matmul(x.mT)))
        assert(x:to('float64'):var({ 0, 1 }, { correction = 0, keepdim = true }).ndim == 2)
        assert(tensor.zeros({}):item() == 0 and tensor.full({ 2 }, 0 / 0):isnan():all():item())
        assert(x:tile(2).shape[2] == 6 and tensor.cat({ x, x }, 1).shape[2] == 6)
    ");
}

#[test]
fn gradients_from_lua() {
    run("
        local x = tensor.tensor({ 1.0, -2.0 }, 'float64'):requires_grad()
        local unused = x:detach():requires_grad()
        local gx, gu = tensor.grad({ x * x }, { tensor.tensor({ 1.0, 10.0 }, 'float64') }, { x, unused })
        assert(gx:equal(tensor.tensor({ 2.0, -40.0 }, 'float64')) and gu == nil)
    ");
}

#[test]
fn errors_name_file_line_op_and_argument() {
    let cases = [
        (
            "local a = tensor.zeros(3, 4)\nlocal b = a:matmul(tensor.zeros(5, 6))",
            "ops/x.lua:2: matmul: [3, 4] @ [5, 6]: inner extents 4 and 5 differ",
        ),
        (
            "return tensor.zeros(3) + tensor.zeros(4)",
            "ops/x.lua:1: add: shapes [3] and [4] do not broadcast: extents 3 and 4 differ at dim 0",
        ),
        (
            "return tensor.zeros(3) + '5'",
            "ops/x.lua:1: add: argument 'other' must be a tensor or a number, got string '5'",
        ),
        (
            "return tensor.zeros(3):sum('0')",
            "ops/x.lua:1: sum: argument 'dim' must be an integer or a list of integers, got string '0'",
        ),
        (
            "return tensor.zeros(3):sum(0.0)",
            "ops/x.lua:1: sum: argument 'dim' must be an integer or a list of integers, got number 0",
        ),
        (
            "return tensor.zeros(3):sum(0, 1)",
            "ops/x.lua:1: sum: argument 'keepdim' must be true or false, got integer 1",
        ),
        ("return tensor.zeros(3):cumsum()", "ops/x.lua:1: cumsum: argument 'dim' must be an integer, got nil"),
        ("return tensor.zeros(3):exp(1)", "ops/x.lua:1: exp: unexpected argument 2: integer 1"),
        (
            "return tensor.zeros(3):var(0, { corection = 0 })",
            "ops/x.lua:1: var: unknown argument 'corection'; did you mean 'correction'?",
        ),
        (
            "return tensor.zeros(3):sum(0, { dim = 0 })",
            "ops/x.lua:1: sum: argument 'dim' is given twice, by position and by name",
        ),
        ("return tensor.zeros(3).shap", "ops/x.lua:1: tensor: no field or method 'shap'; did you mean 'shape'?"),
        ("return tensor.sofmax", "ops/x.lua:1: tensor: no function 'sofmax'; did you mean 'softmax'?"),
        (
            "local x = tensor.zeros(3)\nx.shape = 1",
            "ops/x.lua:2: tensor: tensors are immutable; cannot set string 'shape'",
        ),
        (
            "return tensor.zeros(3)[0]",
            "ops/x.lua:1: tensor: integer 0 is no field; take elements with select, slice or narrow",
        ),
        (
            "return tensor.zeros(3) == tensor.zeros(3)",
            "ops/x.lua:1: ==: compares values, not tensors; use x:eq(y) per element or x:equal(y)",
        ),
        (
            "return tensor.zeros(3, { dtype = 'float' })",
            "ops/x.lua:1: zeros: argument 'dtype': unknown dtype 'float'; known: float64 float32 float16 bfloat16 int64 int32 int8 bool",
        ),
        (
            "return tensor.zeros({ 2, x = 3 })",
            "ops/x.lua:1: zeros: argument 'shape' must be a list of integers, got a table",
        ),
        ("return tensor.tensor({ { 1, 2 }, { 3 } })", "ops/x.lua:1: tensor: a list has 1 items where another has 2"),
        ("return tensor.zeros(-1)", "ops/x.lua:1: zeros: argument 'shape' has the negative extent -1"),
        ("return tensor.exp(5)", "ops/x.lua:1: exp: argument 'self' must be a tensor, got integer 5"),
        ("return tensor.add(1, 2)", "ops/x.lua:1: add: at least one operand must be a tensor"),
        ("return tensor.zeros(2):item()", "ops/x.lua:1: item: float32[2] has 2 elements, expected 1"),
    ];
    for (code, expected) in cases {
        assert_eq!(failure(code), expected, "{code}");
    }
    let refused = failure("return tensor.zeros(1 << 40, 1 << 10)");
    assert!(
        refused.starts_with("ops/x.lua:1: zeros: a float32 tensor of shape [1099511627776, 1024] needs 4194304.0 GiB"),
        "{refused}"
    );
    let overflow = failure("return tensor.zeros(1 << 62, 1 << 62, 1 << 62)");
    assert!(overflow.contains("tensor budget"), "{overflow}");
}

#[test]
fn garbage_tensors_are_swept_although_lua_sees_no_bytes() {
    let lua = vm();
    lua.load("x = tensor.ones({ 1 << 20 }, { dtype = 'float64' })").exec().expect("runs");
    for _ in 0..200 {
        lua.load("x = x + 1").exec().expect("runs");
        assert!(crate::truth::memory_in_use() < 1 << 30, "200 temporaries of 8 MiB pile up");
    }
}

#[test]
fn a_deep_loop_neither_overflows_nor_leaks() {
    let before = crate::truth::memory_in_use();
    run("
        local x = tensor.ones({ 4 }, { dtype = 'float64' }):requires_grad()
        local y = x
        for _ = 1, 20000 do y = y * 1.0001 end
        local g = tensor.grad({ y }, { tensor.ones_like(y) }, { x })
        assert((g - 1.0001 ^ 20000):abs():amax():item() < 1e-9)
    ");
    // Other tests allocate at the same time, but nothing as large as this loop would leak.
    assert!(crate::truth::memory_in_use() < before + (1 << 30));
}
