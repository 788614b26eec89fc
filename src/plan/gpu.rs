//! The `gpu` table: everything a candidate can reach outside plain Lua.

use mlua::{IntoLua, Lua, MetaMethod, MultiValue, Table, UserData, UserDataMethods, Value};

use super::call::{Call, recorder};
use super::error::describe;
use super::kernel;
use super::recorder::Step;
use super::scalar;
use super::tensor::{Tensor, frozen, unknown};
use crate::model::{BufferRef, DType, Node, ScalarValue};

/// `gpu.null`: the null pointer, for an optional tensor that is absent.
pub(super) struct Null;

/// `gpu.i32(v)` and its kin: a scalar whose width is said explicitly.
#[derive(Clone, Copy)]
pub(super) struct Exact(pub(super) ScalarValue);

impl UserData for Null {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::ToString, |_, _, ()| Ok("gpu.null"));
        methods.add_meta_method(MetaMethod::Index, |lua, _, key: Value| -> mlua::Result<Value> {
            Err(unknown(lua, "gpu.null", &key, []))
        });
    }
}

impl UserData for Exact {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::ToString, |_, this, ()| Ok(scalar::text(this.0)));
        methods.add_meta_method(MetaMethod::Index, |lua, _, key: Value| -> mlua::Result<Value> {
            Err(unknown(lua, "a scalar", &key, []))
        });
    }
}

/// Builds the read-only `gpu` table.
pub(super) fn install(lua: &Lua) -> mlua::Result<()> {
    let api = lua.create_table()?;
    api.set("compile", lua.create_function(kernel::compile)?)?;
    api.set("empty", lua.create_function(empty)?)?;
    api.set("empty_like", lua.create_function(empty_like)?)?;
    api.set("zeros", lua.create_function(zeros)?)?;
    api.set("full", lua.create_function(full)?)?;
    api.set("fill", lua.create_function(fill)?)?;
    api.set("copy", lua.create_function(copy)?)?;
    api.set("matmul", lua.create_function(matmul)?)?;
    api.set("cdiv", lua.create_function(cdiv)?)?;
    api.set("f32", lua.create_function(|lua, v| exact_float(lua, "gpu.f32(value)", v, 4))?)?;
    api.set("f64", lua.create_function(|lua, v| exact_float(lua, "gpu.f64(value)", v, 8))?)?;
    api.set("i32", lua.create_function(|lua, v| exact_integer(lua, "gpu.i32(value)", v, 4, true))?)?;
    api.set("i64", lua.create_function(|lua, v| exact_integer(lua, "gpu.i64(value)", v, 8, true))?)?;
    api.set("u32", lua.create_function(|lua, v| exact_integer(lua, "gpu.u32(value)", v, 4, false))?)?;
    api.set("null", Null)?;
    api.set("device", device(lua)?)?;
    lua.globals().set("gpu", freeze(lua, "gpu", api)?)
}

/// What the candidate may adapt to.
fn device(lua: &Lua) -> mlua::Result<Table> {
    let target = recorder(lua, |recorder| recorder.target.clone())?;
    let table = lua.create_table()?;
    table.set("kind", target.kind.name())?;
    table.set("processors", target.processors)?;
    table.set("shared_memory_per_block", target.shared_memory_per_block)?;
    table.set("warp_size", 32)?;
    freeze(lua, "gpu.device", table)
}

/// An empty table in front of `inner`: reads of unknown names and all writes are errors, `pairs` shows what there is.
fn freeze(lua: &Lua, name: &'static str, inner: Table) -> mlua::Result<Table> {
    let names: Vec<String> =
        inner.pairs::<String, Value>().map(|pair| pair.map(|(key, _)| key)).collect::<mlua::Result<_>>()?;
    let meta = lua.create_table()?;
    let shown = inner.clone();
    meta.set(
        "__index",
        lua.create_function(move |lua, (_, key): (Value, Value)| {
            let value: Value = inner.raw_get(key.clone())?;
            match value {
                Value::Nil => Err(unknown(lua, name, &key, names.iter().map(String::as_str))),
                value => Ok(value),
            }
        })?,
    )?;
    meta.set(
        "__newindex",
        lua.create_function(move |lua, (_, key, _): (Value, Value, Value)| -> mlua::Result<()> {
            Err(frozen(lua, name, &key))
        })?,
    )?;
    meta.set(
        "__pairs",
        lua.create_function(move |lua, _: Value| {
            let copy = lua.create_table()?;
            for pair in shown.pairs::<Value, Value>() {
                let (key, value) = pair?;
                copy.raw_set(key, value)?;
            }
            Ok((lua.globals().raw_get::<Value>("next")?, copy))
        })?,
    )?;
    meta.set("__metatable", false)?;
    let table = lua.create_table()?;
    table.set_metatable(Some(meta))?;
    Ok(table)
}

fn allocate(call: &Call<'_>, shape: Vec<u64>, dtype: DType) -> mlua::Result<Tensor> {
    let (buffer, name) = call.record(|recorder| {
        let buffer = recorder.allocate(dtype, shape.clone(), &call.at)?;
        Ok((buffer, recorder.slots[buffer as usize].buffer.name.as_str().into()))
    })?;
    Ok(Tensor { name, place: BufferRef { buffer, byte_offset: 0 }, dtype, shape })
}

fn empty(lua: &Lua, values: MultiValue) -> mlua::Result<Tensor> {
    let call = Call::new(lua, "gpu.empty(shape, dtype)", 2, values)?;
    allocate(&call, call.shape(0)?, call.dtype(1)?)
}

fn empty_like(lua: &Lua, values: MultiValue) -> mlua::Result<Tensor> {
    let call = Call::new(lua, "gpu.empty_like(tensor)", 1, values)?;
    let tensor = call.tensor(0, "tensor")?;
    allocate(&call, tensor.shape, tensor.dtype)
}

fn zeros(lua: &Lua, values: MultiValue) -> mlua::Result<Tensor> {
    let call = Call::new(lua, "gpu.zeros(shape, dtype)", 2, values)?;
    let tensor = allocate(&call, call.shape(0)?, call.dtype(1)?)?;
    let zero = if tensor.dtype == DType::Bool { Value::Boolean(false) } else { Value::Integer(0) };
    fill_with(&call, &tensor, &zero)?;
    Ok(tensor)
}

fn full(lua: &Lua, values: MultiValue) -> mlua::Result<Tensor> {
    let call = Call::new(lua, "gpu.full(shape, value, dtype)", 3, values)?;
    let tensor = allocate(&call, call.shape(0)?, call.dtype(2)?)?;
    fill_with(&call, &tensor, call.value(1))?;
    Ok(tensor)
}

fn fill(lua: &Lua, values: MultiValue) -> mlua::Result<()> {
    let call = Call::new(lua, "gpu.fill(tensor, value)", 2, values)?;
    fill_with(&call, &call.tensor(0, "tensor")?, call.value(1))
}

fn fill_with(call: &Call<'_>, tensor: &Tensor, value: &Value) -> mlua::Result<()> {
    let value = scalar::element(value, tensor.dtype).map_err(|message| call.fail(message))?;
    let buffer = tensor.place.buffer;
    call.record(|recorder| {
        recorder.writable(buffer, &call.at)?;
        if tensor.bytes() != recorder.slots[buffer as usize].buffer.bytes() {
            return Err(super::error::candidate(format!(
                "{}: gpu.fill sets whole tensors, not a part of '{}'; fill before you narrow",
                call.at, tensor.name
            )));
        }
        recorder.push(Step::Node(Node::Fill { buffer, value, at: call.at.clone() }), &call.at)
    })
}

fn copy(lua: &Lua, values: MultiValue) -> mlua::Result<()> {
    let call = Call::new(lua, "gpu.copy(dst, src)", 2, values)?;
    let (dst, src) = (call.tensor(0, "dst")?, call.tensor(1, "src")?);
    if dst.dtype != src.dtype || dst.numel() != src.numel() {
        return Err(call.fail(format!(
            "dst is {}, src is {}; dtype and number of elements must be the same",
            dst.describe(),
            src.describe()
        )));
    }
    let (from, to, bytes) = (src.place, dst.place, src.bytes());
    let apart = from.buffer != to.buffer || from.byte_offset.abs_diff(to.byte_offset) >= bytes;
    if !apart && bytes > 0 {
        return Err(call.fail("dst and src overlap"));
    }
    call.record(|recorder| {
        recorder.reach(from.buffer, &call.at)?;
        recorder.writable(to.buffer, &call.at)?;
        recorder.push(Step::Node(Node::Copy { src: from, dst: to, bytes, at: call.at.clone() }), &call.at)
    })
}

/// `torch.matmul` for row-major matrices: leading dimensions are equal, or `b` is one matrix for all of `a`.
fn matmul(lua: &Lua, values: MultiValue) -> mlua::Result<Tensor> {
    let call = Call::new(lua, "gpu.matmul(a, b, { trans_a, trans_b, out })", 3, values)?;
    let (a, b) = (call.tensor(0, "a")?, call.tensor(1, "b")?);
    let options = call.options(2, &["trans_a", "trans_b", "out"])?;
    let flag = |name: &str| match &options {
        None => Ok(false),
        Some(table) => match table.raw_get::<Value>(name)? {
            Value::Nil => Ok(false),
            Value::Boolean(value) => Ok(value),
            value => Err(call.fail(format!("{name} must be true or false, got {}", describe(&value)))),
        },
    };
    let (trans_a, trans_b) = (flag("trans_a")?, flag("trans_b")?);
    let misfit = |why: &str| call.fail(format!("a is {}, b is {}: {why}", a.describe(), b.describe()));
    if a.dtype != b.dtype || !a.dtype.is_float() {
        return Err(misfit("both must have the same floating dtype"));
    }
    if a.shape.len() < 2 || b.shape.len() < 2 {
        return Err(misfit("both need at least two dimensions"));
    }
    let (a_lead, a_matrix) = a.shape.split_at(a.shape.len() - 2);
    let (b_lead, b_matrix) = b.shape.split_at(b.shape.len() - 2);
    let (mut m, k) = if trans_a { (a_matrix[1], a_matrix[0]) } else { (a_matrix[0], a_matrix[1]) };
    let (kb, n) = if trans_b { (b_matrix[1], b_matrix[0]) } else { (b_matrix[0], b_matrix[1]) };
    if k != kb {
        return Err(misfit(&format!("inner extents differ: {k} and {kb}")));
    }
    let mut shape = a_lead.to_vec();
    shape.extend([m, n]);
    let mut batch: u64 = a_lead.iter().product();
    if a_lead != b_lead {
        if !b_lead.is_empty() || trans_a {
            return Err(misfit("leading dimensions must be equal (or b one matrix, and trans_a false)"));
        }
        (m, batch) = (m * batch, 1);
    }
    let given = match &options {
        Some(table) => table.raw_get::<Value>("out")?,
        None => Value::Nil,
    };
    let out = match given {
        Value::Nil => allocate(&call, shape, a.dtype)?,
        value => {
            let out = call.as_tensor(&value, "out")?;
            if out.dtype != a.dtype || out.shape != shape {
                return Err(misfit(&format!("out must be {} {shape:?}, got {}", a.dtype, out.describe())));
            }
            if out.place.buffer == a.place.buffer || out.place.buffer == b.place.buffer {
                return Err(misfit("out must not be a or b"));
            }
            out
        }
    };
    let (a, b, to, dtype) = (a.place, b.place, out.place, a.dtype);
    call.record(|recorder| {
        recorder.reach(a.buffer, &call.at)?;
        recorder.reach(b.buffer, &call.at)?;
        recorder.writable(to.buffer, &call.at)?;
        let at = call.at.clone();
        let node = Node::Matmul { a, b, out: to, dtype, m, n, k, batch, trans_a, trans_b, at };
        recorder.push(Step::Node(node), &call.at)
    })?;
    Ok(out)
}

/// `ceil(a / b)` for non-negative integers.
fn cdiv(lua: &Lua, values: MultiValue) -> mlua::Result<i64> {
    let call = Call::new(lua, "gpu.cdiv(a, b)", 2, values)?;
    let (a, b) = (call.integer(0, "a")?, call.integer(1, "b")?);
    if a < 0 || b < 1 {
        return Err(call.fail(format!("needs a >= 0 and b >= 1, got {a} and {b}")));
    }
    Ok((a as u64).div_ceil(b as u64) as i64)
}

fn exact_float(lua: &Lua, usage: &'static str, values: MultiValue, size: u32) -> mlua::Result<impl IntoLua + use<>> {
    let call = Call::new(lua, usage, 1, values)?;
    let number = match call.value(0) {
        Value::Number(value) => *value,
        Value::Integer(value) => *value as f64,
        value => return Err(call.fail(format!("value must be a number, got {}", describe(value)))),
    };
    scalar::float(number, size).map(Exact).ok_or_else(|| call.fail(format!("{number:?} is out of range")))
}

fn exact_integer(
    lua: &Lua,
    usage: &'static str,
    values: MultiValue,
    size: u32,
    signed: bool,
) -> mlua::Result<impl IntoLua + use<>> {
    let call = Call::new(lua, usage, 1, values)?;
    let value = call.integer(0, "value")?;
    scalar::integer(value, size, signed).map(Exact).ok_or_else(|| call.fail(format!("{value} is out of range")))
}
