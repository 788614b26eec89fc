//! `popcorn.launch`: a plan run and timed in a fresh process, over memory that the judge owns.

use std::rc::Rc;

use mlua::{FromLua, Lua, MetaMethod, MultiValue, UserData, UserDataFields, UserDataMethods, Value};

use super::draws::{Draws, DrawsInner, Times};
use super::plan::LuaPlan;
use super::settings::Settings;
use super::value_or_fault;
use crate::device;
use crate::host::api::arguments::exactly;
use crate::host::api::case::unknown_field;
use crate::host::{HostError, to_lua};
use crate::model::{DeviceKind, Fault, LaunchReport, LaunchRequest, Plan, Role, Sample, Schedule, Status};
use crate::worker::{self, CaseMemory, MemoryError};

/// Untimed runs of each pass before its first rep.
const WARMUP: u32 = 2;
/// On a GPU, launches of one rep rotate over so many bytes (five times the 50 MB of an H200's L2 cache), that none finds
/// its inputs cached; but over no more than [`MOST_SETS`] sets.
const ROTATION_BYTES: u64 = 256 << 20;
const MOST_SETS: u64 = 64;

/// What a launcher left: times, and outputs in the judge's memory.
#[derive(Clone)]
pub(super) struct Run(pub(super) Rc<RunInner>);

pub(super) struct RunInner {
    pub(super) plan: Rc<Plan>,
    pub(super) memory: CaseMemory,
    report: LaunchReport,
    /// Set s of the memory holds draw s mod this.
    pub(super) draws: u32,
    pub(super) sets: u32,
}

/// `popcorn.launch(plan, draws, settings)`.
pub(super) fn launch(lua: &Lua, args: MultiValue) -> mlua::Result<MultiValue> {
    let call = "popcorn.launch";
    let [plan, draws, settings] = exactly(call, args)?;
    let (plan, draws) = (LuaPlan::from_lua(plan, lua)?, Draws::from_lua(draws, lua)?);
    let settings = Settings::from_lua(&settings, call)?;
    value_or_fault(lua, run(&plan.plan, &draws.0, &settings).map(|run| Run(Rc::new(run))))
}

fn run(plan: &Rc<Plan>, draws: &DrawsInner, settings: &Settings) -> Result<RunInner, Fault> {
    let kind = device::kind(&settings.device).map_err(|why| Fault::new(Status::Error, "environment", why))?;
    let sets = sets(plan, draws.sets.len() as u32, kind);
    let mut memory = CaseMemory::new(plan, sets).map_err(memory_fault)?;
    // Set s holds draw s mod D.
    for (at, set) in draws.sets.iter().cycle().take(sets as usize).enumerate() {
        for (index, buffer) in plan.buffers.iter().enumerate() {
            let tensor = match &buffer.role {
                Role::Input { param } => set.inputs.iter().find(|(name, _)| name == param).map(|(_, tensor)| tensor),
                Role::Cotangent { index } => set.cotangents.get(*index as usize).and_then(Option::as_ref),
                Role::Output { .. } | Role::Grad { .. } | Role::Scratch => continue,
            };
            let Some(tensor) = tensor else {
                let reason = format!("the plan has an input '{}' that was not drawn", buffer.name);
                return Err(Fault::new(Status::Error, "environment", reason));
            };
            memory.write(at as u32, index as u32, tensor.as_bytes()).map_err(memory_fault)?;
        }
    }
    let request = LaunchRequest {
        device: settings.device.clone(),
        plan: plan.as_ref().clone(),
        handles: None,
        shared: memory.shared_buffers().to_vec(),
        schedule: Schedule { sets, reps: settings.reps, warmup: WARMUP, min_rep_ns: min_rep_ns(kind) },
        backward: draws.backward(),
    };
    let report = worker::run_launch(&request, &memory, settings.timeout())?;
    if !memory.inputs_unchanged() {
        return Err(Fault::new(Status::Fail, "input-mutated", "an input is not as it was before the launches"));
    }
    if report.covered(sets) < sets {
        return Err(Fault::new(Status::Crash, "protocol", "the launcher did not time every set of inputs"));
    }
    Ok(RunInner { plan: plan.clone(), memory, report, draws: draws.sets.len() as u32, sets })
}

/// Sets of the rotation: one per draw, and on a GPU more of them for small cases.
fn sets(plan: &Plan, draws: u32, kind: DeviceKind) -> u32 {
    let wanted = match kind {
        DeviceKind::Cpu => 0,
        DeviceKind::Cuda => {
            let one = plan.buffers.iter().fold(1u64, |sum, buffer| sum.saturating_add(buffer.bytes()));
            ROTATION_BYTES.div_ceil(one).min(MOST_SETS) as u32
        }
    };
    wanted.max(draws)
}

/// A rep repeats a short pass until it spans this long, so that a clock tick and a wake-up are small beside it. Events of
/// a GPU tick every 32 ns and cost about a microsecond; the host's threads are woken in tens of microseconds.
fn min_rep_ns(kind: DeviceKind) -> u64 {
    match kind {
        DeviceKind::Cpu => 5_000_000,
        DeviceKind::Cuda => 200_000,
    }
}

fn memory_fault(error: MemoryError) -> Fault {
    let (status, code) = match error {
        MemoryError::TooLarge { .. } => (Status::Oom, "oom"),
        _ => (Status::Error, "environment"),
    };
    Fault::new(status, code, error.to_string())
}

/// Milliseconds of one replay, per rep.
fn milliseconds(samples: &[Sample]) -> Vec<f64> {
    samples.iter().map(|sample| sample.ns as f64 / 1e6 / f64::from(sample.launches.max(1))).collect()
}

impl FromLua for Run {
    fn from_lua(value: Value, _: &Lua) -> mlua::Result<Self> {
        match value.as_userdata().and_then(|userdata| userdata.borrow::<Self>().ok()) {
            Some(run) => Ok(run.clone()),
            None => {
                Err(HostError::script(format!("expected a run (from popcorn.launch), got {}", value.type_name()))
                    .into())
            }
        }
    }
}

/// For messages and the check of the stubs.
pub(in crate::host::api) const FIELDS: [&str; 4] = ["backward", "forward", "scratch_mb", "timer"];

impl UserData for Run {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("forward", |lua, run| {
            Ok(to_lua(lua, &Times::of(&milliseconds(&run.0.report.forward)))?)
        });
        fields.add_field_method_get("backward", |lua, run| {
            Ok(to_lua(lua, &Times::of(&milliseconds(&run.0.report.backward)))?)
        });
        fields.add_field_method_get("scratch_mb", |_, run| Ok(run.0.report.scratch_bytes as f64 / 1e6));
        fields.add_field_method_get("timer", |lua, run| Ok(to_lua(lua, &run.0.report.timer)?));
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |_, _, key: Value| unknown_field("a run", &key, &FIELDS));
    }
}
