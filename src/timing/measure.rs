//! All side effects of a timed case, in order. Counts are fixed before the first timed rep; every sample is kept.

use std::time::Duration;

use crate::device::{BufferId, Device, DeviceError, DeviceErrorKind, GraphId, Step};
use crate::model::{Sample, Schedule, Stage};

/// Most launches that one rep may batch.
const LAUNCHES: u128 = 10_000;
/// Most reps and warm-up runs that a request may ask for.
const RUNS: u32 = 1_000_000;

/// One set of inputs, outputs and scratch, recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Set {
    pub forward: GraphId,
    /// None when no gradient is asked for.
    pub backward: Option<GraphId>,
    pub outputs: Vec<BufferId>,
    pub gradients: Vec<BufferId>,
    pub scratch: Vec<BufferId>,
}

/// Raw samples of both passes, in the order in which they were taken.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Times {
    pub forward: Vec<Sample>,
    pub backward: Vec<Sample>,
}

/// Rehearses and warms up on the first set, then performs all reps as one piece of work: poison outputs and scratch,
/// flush, timed forward launches, poison gradients, flush, timed backward launches. Each launch takes the next set, so
/// that inputs rotate; what a rep wrote stays, so that the graded bytes are those of timed launches; nothing in scratch
/// is carried from one rep to the next. `stage` hears what is about to run.
pub fn measure(
    device: &mut dyn Device,
    sets: &[Set],
    schedule: &Schedule,
    stage: &mut dyn FnMut(Stage),
) -> Result<Times, DeviceError> {
    let Some(first) = sets.first() else {
        return Err(refused("a schedule needs at least one set"));
    };
    if schedule.reps == 0 || schedule.reps > RUNS || schedule.warmup > RUNS {
        return Err(refused("a schedule needs from one to a million reps"));
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
    stage(Stage::Timing);
    let mut steps = Vec::new();
    for rep in 0..schedule.reps as usize {
        let window = forward.max(backward);
        let rotation = |count| (rep * window..rep * window + count).map(|launch| &sets[launch % sets.len()]);
        rep_steps(&mut steps, rotation, forward, backward, window.min(sets.len()));
    }
    let mut spent = device.perform(&steps)?.into_iter();
    let mut times = Times::default();
    let sample = |launches: usize, spent: Duration| Sample {
        launches: launches as u32,
        ns: u64::try_from(spent.as_nanos()).unwrap_or(u64::MAX),
    };
    while let Some(spent_forward) = spent.next() {
        times.forward.push(sample(forward, spent_forward));
        if backward > 0 {
            times.backward.push(sample(backward, spent.next().ok_or_else(|| refused("a device lost a time"))?));
        }
    }
    Ok(times)
}

/// One rep on the sets that `rotation` gives, of which the first `distinct` are all different.
fn rep_steps<'a, R: Iterator<Item = &'a Set>>(
    steps: &mut Vec<Step>,
    rotation: impl Fn(usize) -> R,
    forward: usize,
    backward: usize,
    distinct: usize,
) {
    let poison = |buffers: fn(&Set) -> &[BufferId]| {
        rotation(distinct).flat_map(buffers).map(|buffer| Step::Poison(*buffer)).collect::<Vec<_>>()
    };
    steps.extend(poison(|set| &set.scratch));
    steps.extend(poison(|set| &set.outputs));
    steps.push(Step::Flush);
    passes(steps, rotation(forward.max(distinct)), forward, distinct, |set| Some(set.forward));
    if backward > 0 {
        steps.extend(poison(|set| &set.gradients));
        steps.push(Step::Flush);
        passes(steps, rotation(backward.max(distinct)), backward, distinct, |set| set.backward);
    }
}

/// `timed` launches on the sets that come; then, untimed, those of the first `distinct` sets that had none: backward needs
/// what forward saved, and every poisoned buffer is graded.
fn passes<'a>(
    steps: &mut Vec<Step>,
    sets: impl Iterator<Item = &'a Set>,
    timed: usize,
    distinct: usize,
    pass: fn(&Set) -> Option<GraphId>,
) {
    let mut graphs: Vec<GraphId> = sets.filter_map(pass).collect();
    let rest = graphs.split_off(timed.min(graphs.len()));
    steps.push(Step::Timed(graphs));
    if timed < distinct {
        steps.push(Step::Run(rest));
    }
}

/// Runs a pass at least twice and returns how many launches a rep needs to span the schedule's least time.
fn warm_up(device: &mut dyn Device, graph: GraphId, schedule: &Schedule) -> Result<usize, DeviceError> {
    device.rehearse(graph)?;
    let least = device.perform(&vec![Step::Timed(vec![graph]); schedule.warmup.max(1) as usize])?.into_iter().min();
    let least = least.unwrap_or_default().as_nanos().max(1);
    Ok(u128::from(schedule.min_rep_ns).div_ceil(least).clamp(1, LAUNCHES) as usize)
}

fn refused(message: &str) -> DeviceError {
    DeviceError { kind: DeviceErrorKind::Environment, message: message.to_owned() }
}
