//! `popcorn.grade`: what the timed launches wrote, against fp64 truth.

use mlua::{FromLua, Lua, MultiValue, Value};
use serde::Serialize;

use super::draws::{DrawSet, Draws, DrawsInner};
use super::launch::{Run, RunInner};
use super::op_fault;
use super::settings::Table;
use crate::host::api::arguments::exactly;
use crate::host::{HostError, from_lua, to_lua};
use crate::judge::{self, Tally, TensorGrade, Tolerance};
use crate::model::{DType, Fault, Role, Status, TensorMeta};
use crate::truth::Tensor;

/// The grade of a case: its first failing tensor decides.
#[derive(Serialize)]
struct CaseGrade {
    status: Status,
    code: String,
    reason: String,
    tensors: Vec<Tally>,
}

/// `popcorn.grade(draws, run, tolerance)`. A reference that fails in float64 is a grade of status `error`.
pub(super) fn grade(lua: &Lua, args: MultiValue) -> mlua::Result<Value> {
    let call = "popcorn.grade";
    let [draws, run, tolerance] = exactly(call, args)?;
    let (draws, run) = (Draws::from_lua(draws, lua)?, Run::from_lua(run, lua)?);
    let tolerance: Table = from_lua(&tolerance, call)?;
    match tally(&draws.0, &run.0, &tolerance) {
        Ok(tensors) => Ok(to_lua(lua, &summarise(tensors))?),
        Err(error) => {
            let Fault { status, code, reason, .. } = op_fault(error)?;
            Ok(to_lua(lua, &CaseGrade { status, code, reason, tensors: Vec::new() })?)
        }
    }
}

fn summarise(tensors: Vec<Tally>) -> CaseGrade {
    let fault = tensors.iter().find_map(|tally| Some((tally, tally.grade.fault?)));
    let (status, code, reason) = match fault {
        None => (Status::Pass, String::new(), String::new()),
        Some((tally, fault)) => (Status::Fail, fault.code().to_owned(), tally.reason()),
    };
    CaseGrade { status, code, reason, tensors }
}

/// One output or gradient of one draw.
struct Graded<'a> {
    name: String,
    meta: &'a TensorMeta,
    role: Role,
    /// None for the gradient of an input that the outputs do not depend on: zeros.
    truth: Option<&'a Tensor>,
    honest: Option<&'a Tensor>,
}

/// Every output and gradient of every draw.
fn tally(draws: &DrawsInner, run: &RunInner, table: &Table) -> Result<Vec<Tally>, HostError> {
    let mut tallies: Vec<Tally> = Vec::new();
    for (draw, set) in draws.sets.iter().enumerate() {
        for (position, graded) in graded(draws, set)?.iter().enumerate() {
            let grade = graded.worst(run, draw as u32, table)?;
            match tallies.get_mut(position) {
                Some(tally) => tally.add(set.seed, grade),
                None => {
                    let shape: Vec<usize> = graded.meta.shape.iter().map(|&extent| extent as usize).collect();
                    tallies.push(Tally::new(&graded.name, &shape, set.seed, grade));
                }
            }
        }
    }
    Ok(tallies)
}

/// What has to be compared for one draw: outputs in order, then gradients in signature order.
fn graded<'a>(draws: &'a DrawsInner, set: &'a DrawSet) -> Result<Vec<Graded<'a>>, HostError> {
    let truth = draws.truth(set)?;
    let mut all = Vec::new();
    for (index, meta) in draws.signature.outputs.iter().enumerate() {
        all.push(Graded {
            name: meta.name.clone(),
            meta,
            role: Role::Output { index: index as u32 },
            truth: truth.outputs.get(index),
            honest: set.honest.outputs.get(index),
        });
    }
    for (index, name) in draws.signature.grads.iter().enumerate() {
        let meta = draws.meta(name).ok_or_else(|| HostError::environment(format!("no parameter '{name}'")))?;
        all.push(Graded {
            name: format!("grad {name}"),
            meta,
            role: Role::Grad { param: name.clone() },
            truth: truth.grads.get(index).and_then(|(_, grad)| grad.as_ref()),
            honest: set.honest.grads.get(index).and_then(|(_, grad)| grad.as_ref()),
        });
    }
    Ok(all)
}

impl Graded<'_> {
    /// The first failing grade among the sets that hold this draw, else that of the first. Sets whose bytes are those of
    /// one that passed pass too.
    fn worst(&self, run: &RunInner, draw: u32, table: &Table) -> Result<TensorGrade, HostError> {
        let buffer = run.plan.buffers.iter().position(|buffer| buffer.role == self.role);
        let buffer =
            buffer.ok_or_else(|| HostError::environment(format!("the plan has no buffer for {}", self.name)))?;
        let read =
            |set: u32| run.memory.read(set, buffer as u32).map_err(|error| HostError::environment(error.to_string()));
        let bytes = read(draw)?;
        let grade = self.compare(bytes, table)?;
        if grade.fault.is_some() {
            return Ok(grade);
        }
        for set in (draw..run.sets).step_by(run.draws as usize).skip(1) {
            let others = read(set)?;
            if others != bytes {
                let other = self.compare(others, table)?;
                if other.fault.is_some() {
                    return Ok(other);
                }
            }
        }
        Ok(grade)
    }

    fn compare(&self, bytes: &[u8], table: &Table) -> Result<TensorGrade, HostError> {
        let fault = |error: crate::truth::Error| HostError::environment(format!("{}: {error}", self.name));
        let shape: Vec<usize> = self.meta.shape.iter().map(|&extent| extent as usize).collect();
        let dtype = self.meta.dtype;
        let value = Tensor::from_bytes(dtype, &shape, bytes).map_err(fault)?.as_f64_vec();
        let zeros = || vec![0.0; value.len()];
        let truth = self.truth.map_or_else(zeros, Tensor::as_f64_vec);
        let honest = self.honest.map_or_else(zeros, Tensor::as_f64_vec);
        let expected = match self.truth {
            Some(truth) => truth.to_dtype(dtype).map_err(fault)?.as_f64_vec(),
            None => zeros(),
        };
        Ok(judge::grade(&value, &truth, &expected, &honest, table.at(dtype)?, !dtype.is_float()))
    }
}

impl Table {
    /// The bounds for a tensor of this dtype.
    fn at(&self, dtype: DType) -> Result<Tolerance, HostError> {
        let floor = match self.floor.get(dtype.name()) {
            Some(&floor) => floor,
            None if !dtype.is_float() => 0.0,
            None => return Err(HostError::script(format!("the tolerance table has no floor for {dtype}"))),
        };
        Ok(Tolerance { honest_factor: self.honest_factor, floor })
    }
}
