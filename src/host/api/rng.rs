//! The `rng` that an op's `inputs` functions get: further draws for the same parameter, each with its own stream.

use std::cell::Cell;

use bytemuck::cast_slice;
use mlua::{MultiValue, UserData, UserDataMethods, Value};

use super::arguments::exactly;
use super::arguments::tensor_to_lua;
use crate::case::{Stream, StreamKey, draw_bernoulli, draw_int, draw_uniform};
use crate::host::op::normal;
use crate::host::{HostError, from_lua};
use crate::model::DType;
use crate::truth::Tensor;

/// Draw `k` of a parameter is the same for the same case and seed; the raw draw is number 0.
pub(crate) struct Rng {
    case_id: String,
    seed: u64,
    name: String,
    draws: Cell<u64>,
}

impl Rng {
    pub(crate) fn new(case_id: String, seed: u64, name: String) -> Self {
        Self { case_id, seed, name, draws: Cell::new(0) }
    }

    fn next_stream(&self) -> Stream {
        let draw = self.draws.get() + 1;
        self.draws.set(draw);
        Stream::new(StreamKey { case_id: &self.case_id, seed: self.seed, name: &self.name, draw })
    }
}

/// Methods, for the check of the stubs.
#[cfg(test)]
pub(crate) const METHODS: [&str; 4] = ["bernoulli", "normal", "randint", "uniform"];

impl UserData for Rng {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("normal", |lua, rng, args: MultiValue| {
            let [shape] = exactly("rng:normal", args)?;
            let shape = extents("rng:normal", &shape)?;
            give(lua, normal(&shape, rng.next_stream()))
        });
        methods.add_method("uniform", |lua, rng, args: MultiValue| {
            let [shape] = exactly("rng:uniform", args)?;
            let shape = extents("rng:uniform", &shape)?;
            let values = draw_uniform(rng.next_stream(), shape.iter().product());
            give(lua, Tensor::from_bytes(DType::F32, &shape, cast_slice(&values)))
        });
        methods.add_method("bernoulli", |lua, rng, args: MultiValue| {
            let [p, shape] = exactly("rng:bernoulli", args)?;
            let p: f64 = from_lua(&p, "rng:bernoulli: p")?;
            let shape = extents("rng:bernoulli", &shape)?;
            let values = draw_bernoulli(rng.next_stream(), shape.iter().product(), p);
            let bytes: Vec<u8> = values.into_iter().map(u8::from).collect();
            give(lua, Tensor::from_bytes(DType::Bool, &shape, &bytes))
        });
        methods.add_method("randint", |lua, rng, args: MultiValue| {
            let [low, high, shape] = exactly("rng:randint", args)?;
            let low: i64 = from_lua(&low, "rng:randint: low")?;
            let high: i64 = from_lua(&high, "rng:randint: high")?;
            let shape = extents("rng:randint", &shape)?;
            if low >= high {
                return Err(HostError::script(format!("rng:randint: the range {low} .. {high} is empty")).into());
            }
            let values = draw_int(rng.next_stream(), shape.iter().product(), low, high);
            give(lua, Tensor::from_i64(&shape, &values))
        });
    }
}

fn extents(call: &str, value: &Value) -> Result<Vec<usize>, HostError> {
    let shape: Vec<usize> = from_lua(value, &format!("{call}: shape"))?;
    match shape.iter().try_fold(1_usize, |product, &extent| product.checked_mul(extent)) {
        Some(numel) if numel <= 1 << 40 => Ok(shape),
        _ => Err(HostError::script(format!("{call}: shape {shape:?} has too many elements"))),
    }
}

fn give(lua: &mlua::Lua, tensor: crate::truth::Result<Tensor>) -> mlua::Result<Value> {
    tensor_to_lua(lua, tensor.map_err(|error| HostError::script(error.to_string()))?)
}
