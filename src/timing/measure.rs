//! All side effects of a timed case, in order. Sample counts are fixed before the first timed rep; every sample is kept.

use std::time::Duration;

use crate::device::{BufferId, Device, DeviceError, DeviceErrorKind, GraphId};
use crate::model::{Sample, Schedule, Stage};

/// Most replays that one rep may batch.
const LAUNCHES: u128 = 10_000;
/// Most reps and warm-up runs that a request may ask for.
const RUNS: u32 = 1_000_000;

/// One drawn input set, recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draw {
    pub forward: GraphId,
    /// None when no gradient is asked for.
    pub backward: Option<GraphId>,
    pub outputs: Vec<BufferId>,
    pub gradients: Vec<BufferId>,
}

/// Raw samples of both passes, in the order in which they were taken.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Times {
    pub forward: Vec<Sample>,
    pub backward: Vec<Sample>,
}

/// Warms up on draw 0, then runs rep `r` on draw `r % draws`: poison, flush, timed forward, poison gradients, flush,
/// timed backward. What a rep wrote stays: the graded bytes are those of timed launches. `scratch` is poisoned before
/// each forward, so that nothing is carried from one rep to the next. `stage` hears what is about to run.
pub fn measure(
    device: &mut dyn Device,
    draws: &[Draw],
    scratch: &[BufferId],
    schedule: &Schedule,
    stage: &mut dyn FnMut(Stage),
) -> Result<Times, DeviceError> {
    let Some(first) = draws.first() else {
        return Err(refused("a schedule needs at least one draw"));
    };
    if schedule.reps < schedule.draws || schedule.reps > RUNS || schedule.warmup > RUNS {
        return Err(refused("a schedule needs at least one rep per draw and at most a million"));
    }
    stage(Stage::Forward);
    let forward = warm_up(device, first.forward, schedule)?;
    let backward = match first.backward {
        Some(graph) => {
            stage(Stage::Backward);
            warm_up(device, graph, schedule)?
        }
        None => 0,
    };
    let mut times = Times::default();
    for rep in 0..schedule.reps {
        let draw = rep % draws.len() as u32;
        let one = &draws[draw as usize];
        stage(Stage::Forward);
        poison(device, scratch)?;
        times.forward.push(timed(device, draw, one.forward, forward, &one.outputs)?);
        if let Some(graph) = one.backward {
            stage(Stage::Backward);
            times.backward.push(timed(device, draw, graph, backward, &one.gradients)?);
        }
    }
    Ok(times)
}

/// One rep: everything before `replay` is outside the window.
fn timed(
    device: &mut dyn Device,
    draw: u32,
    graph: GraphId,
    launches: u32,
    results: &[BufferId],
) -> Result<Sample, DeviceError> {
    poison(device, results)?;
    device.flush_caches()?;
    let spent = device.replay(graph, launches)?;
    Ok(Sample { draw, launches, ns: u64::try_from(spent.as_nanos()).unwrap_or(u64::MAX) })
}

/// Runs a pass at least once and returns how many replays a rep needs to span the schedule's least time.
fn warm_up(device: &mut dyn Device, graph: GraphId, schedule: &Schedule) -> Result<u32, DeviceError> {
    let mut least = Duration::MAX;
    for _ in 0..schedule.warmup.max(1) {
        least = least.min(device.replay(graph, 1)?);
    }
    Ok(u128::from(schedule.min_rep_ns).div_ceil(least.as_nanos().max(1)).clamp(1, LAUNCHES) as u32)
}

fn poison(device: &mut dyn Device, buffers: &[BufferId]) -> Result<(), DeviceError> {
    buffers.iter().try_for_each(|buffer| device.poison(*buffer))
}

fn refused(message: &str) -> DeviceError {
    DeviceError { kind: DeviceErrorKind::Environment, message: message.to_owned() }
}
