//! One case's reps, in order.

use std::time::Duration;

use crate::device::{BufferId, Device, DeviceError, GraphId};
use crate::model::{Sample, Schedule, Stage};

/// One drawn input set: its recorded passes and the buffers that they must write.
pub struct Draw {
    pub forward: GraphId,
    pub backward: Option<GraphId>,
    /// Poisoned before each rep.
    pub outputs: Vec<BufferId>,
}

/// Raw samples of both passes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Samples {
    pub forward: Vec<Sample>,
    pub backward: Vec<Sample>,
}

/// More replays than this in one rep tell nothing new.
const MAX_LAUNCHES: u32 = 10_000;

/// Runs the schedule. Rep `r` runs forward, then backward, on draw `r % draws`, so that backward finds what forward
/// saved for the same inputs and no untimed launch touches a timed output afterwards. `stage` is told what comes next.
pub fn run(
    device: &mut dyn Device,
    draws: &[Draw],
    schedule: Schedule,
    mut stage: impl FnMut(Stage),
) -> Result<Samples, DeviceError> {
    let Some(first) = draws.first() else {
        return Ok(Samples::default());
    };
    stage(Stage::Forward);
    let forward_launches = calibrate(device, first.forward, schedule)?;
    let backward_launches = match first.backward {
        Some(backward) => {
            stage(Stage::Backward);
            calibrate(device, backward, schedule)?
        }
        None => 1,
    };
    let mut samples = Samples::default();
    for rep in 0..schedule.reps {
        let index = rep as usize % draws.len();
        let draw = &draws[index];
        for &buffer in &draw.outputs {
            device.poison(buffer)?;
        }
        let mut timed = |device: &mut dyn Device, graph, launches| -> Result<Sample, DeviceError> {
            device.flush_caches()?;
            let ns = nanoseconds(device.replay(graph, launches)?);
            Ok(Sample { draw: index as u32, launches, ns })
        };
        stage(Stage::Forward);
        samples.forward.push(timed(device, draw.forward, forward_launches)?);
        if let Some(backward) = draw.backward {
            stage(Stage::Backward);
            samples.backward.push(timed(device, backward, backward_launches)?);
        }
    }
    Ok(samples)
}

/// Warms a pass up and finds how many replays fill a rep. The count is fixed before the first rep.
fn calibrate(device: &mut dyn Device, graph: GraphId, schedule: Schedule) -> Result<u32, DeviceError> {
    let mut fastest = nanoseconds(device.replay(graph, 1)?);
    for _ in 0..schedule.warmup {
        fastest = fastest.min(nanoseconds(device.replay(graph, 1)?));
    }
    let launches = schedule.min_rep_ns.div_ceil(fastest.max(1));
    Ok(u32::try_from(launches).unwrap_or(MAX_LAUNCHES).clamp(1, MAX_LAUNCHES))
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[path = "schedule_tests.rs"]
mod tests;
