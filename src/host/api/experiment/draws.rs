//! `popcorn.draw`: the judge's inputs for one case, and what the reference makes of them.

use std::cell::OnceCell;
use std::rc::Rc;
use std::time::Duration;

use mlua::{FromLua, Lua, MetaMethod, MultiValue, UserData, UserDataMethods, Value};
use serde::Serialize;

use super::settings::Settings;
use super::{op_fault, value_or_fault};
use crate::host::api::arguments::exactly;
use crate::host::api::case::{LuaCase, unknown_field};
use crate::host::api::op::LuaOp;
use crate::host::op::{Evaluation, Op};
use crate::host::{HostError, to_lua};
use crate::model::{Case, DType, Fault, Signature, TensorMeta};
use crate::stats::Summary;
use crate::truth::Tensor;

/// One case's draws. Truth is computed when it is first asked for, after the candidate ran.
#[derive(Clone)]
pub(super) struct Draws(pub(super) Rc<DrawsInner>);

pub(super) struct DrawsInner {
    pub(super) op: Rc<Op>,
    pub(super) case: Case,
    /// What the candidate is called with; outputs as the reference really gave them.
    pub(super) signature: Signature,
    pub(super) sets: Vec<DrawSet>,
}

pub(super) struct DrawSet {
    pub(super) seed: u64,
    pub(super) inputs: Vec<(String, Tensor)>,
    /// One per output; empty without backward.
    pub(super) cotangents: Vec<Option<Tensor>>,
    /// The reference at the case's own dtype.
    pub(super) honest: Evaluation,
    truth: OnceCell<Evaluation>,
}

impl DrawsInner {
    fn new(op: Rc<Op>, case: Case, settings: &Settings) -> Result<Self, HostError> {
        let mut signature = op.signature(&case)?;
        if !settings.backward {
            signature.grads.clear();
        }
        let backward = !signature.grads.is_empty();
        let mut sets = Vec::with_capacity(settings.reps as usize);
        for rep in 0..u64::from(settings.reps) {
            let seed = settings.seed + rep;
            let inputs = op.draw(&case, seed)?;
            let cotangents = if backward { op.draw_cotangents(&case, seed)? } else { Vec::new() };
            let honest = op.evaluate(&case, &inputs, backward.then_some(&cotangents[..]), case.dtype)?;
            sets.push(DrawSet { seed, inputs, cotangents, honest, truth: OnceCell::new() });
        }
        Ok(Self { op, case, signature, sets })
    }

    pub(super) fn backward(&self) -> bool {
        !self.signature.grads.is_empty()
    }

    /// The reference in float64 on the same rounded inputs.
    pub(super) fn truth<'a>(&self, set: &'a DrawSet) -> Result<&'a Evaluation, HostError> {
        if let Some(truth) = set.truth.get() {
            return Ok(truth);
        }
        let cotangents = self.backward().then_some(&set.cotangents[..]);
        let truth = self.op.evaluate(&self.case, &set.inputs, cotangents, DType::F64)?;
        Ok(set.truth.get_or_init(|| truth))
    }

    /// Name, dtype and shape of a parameter.
    pub(super) fn meta(&self, name: &str) -> Option<&TensorMeta> {
        self.signature.args.iter().find_map(|argument| match argument {
            crate::model::Argument::Tensor(meta) if meta.name == name => Some(meta),
            _ => None,
        })
    }
}

/// `popcorn.draw(op, case, settings)`.
pub(super) fn draw(lua: &Lua, args: MultiValue) -> mlua::Result<MultiValue> {
    let call = "popcorn.draw";
    let [op, case, settings] = exactly(call, args)?;
    let (op, case) = (LuaOp::from_lua(op, lua)?, LuaCase::from_lua(case, lua)?);
    let settings = Settings::from_lua(&settings, call)?;
    let drawn: Result<Draws, Fault> = match DrawsInner::new(op.0, case.0, &settings) {
        Ok(draws) => Ok(Draws(Rc::new(draws))),
        Err(error) => Err(op_fault(error)?),
    };
    value_or_fault(lua, drawn)
}

/// How long the reference took, milliseconds. It runs on the judge's cores, so it is a yardstick, not a rival.
#[derive(Serialize)]
struct ReferenceTimes {
    forward: Times,
    #[serde(skip_serializing_if = "Option::is_none")]
    backward: Option<Times>,
    total_ms: f64,
}

/// Median and spread over reps, milliseconds per run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Times {
    pub(super) median_ms: f64,
    q20_ms: f64,
    q80_ms: f64,
    min_ms: f64,
    max_ms: f64,
    reps: usize,
}

impl Times {
    /// None without samples.
    pub(super) fn of(milliseconds: &[f64]) -> Option<Self> {
        let summary = Summary::of(milliseconds)?;
        Some(Self {
            median_ms: summary.median,
            q20_ms: summary.q20,
            q80_ms: summary.q80,
            min_ms: summary.min,
            max_ms: summary.max,
            reps: summary.count,
        })
    }
}

impl DrawsInner {
    fn reference_times(&self) -> Option<ReferenceTimes> {
        let collect = |time: fn(&Evaluation) -> Duration| -> Vec<f64> {
            self.sets.iter().map(|set| time(&set.honest).as_secs_f64() * 1e3).collect()
        };
        let forward = Times::of(&collect(|honest| honest.forward))?;
        let backward = if self.backward() { Times::of(&collect(|honest| honest.backward)) } else { None };
        let total_ms = forward.median_ms + backward.map_or(0.0, |times| times.median_ms);
        Some(ReferenceTimes { forward, backward, total_ms })
    }
}

impl FromLua for Draws {
    fn from_lua(value: Value, _: &Lua) -> mlua::Result<Self> {
        match value.as_userdata().and_then(|userdata| userdata.borrow::<Self>().ok()) {
            Some(draws) => Ok(draws.clone()),
            None => {
                Err(HostError::script(format!("expected draws (from popcorn.draw), got {}", value.type_name())).into())
            }
        }
    }
}

/// For messages and the check of the stubs.
pub(in crate::host::api) const METHODS: [&str; 1] = ["reference_times"];

impl UserData for Draws {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("reference_times", |lua, draws, args: MultiValue| {
            let [] = exactly("draws:reference_times", args)?;
            Ok(to_lua(lua, &draws.0.reference_times())?)
        });
        methods.add_meta_method(MetaMethod::Index, |_, _, key: Value| unknown_field("draws", &key, &METHODS));
    }
}
