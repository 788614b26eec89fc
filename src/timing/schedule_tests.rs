use std::os::fd::BorrowedFd;

use super::*;
use crate::device::{Access, BoundNode, ModuleId};
use crate::model::{DeviceInfo, Module};

/// A device that writes down what it is asked to do. Each replay takes 1 ms.
#[derive(Default)]
struct Fake {
    calls: Vec<String>,
    replays: u32,
    fails_at: Option<u32>,
}

impl Device for Fake {
    fn describe(&self) -> DeviceInfo {
        DeviceInfo { kind: "fake".into(), name: "fake".into(), memory_bytes: 0, processors: 1, compiler: String::new() }
    }
    fn alloc(&mut self, _: &str, _: u64) -> Result<BufferId, DeviceError> {
        Ok(BufferId(0))
    }
    fn import(&mut self, _: &str, _: BorrowedFd<'_>, _: u64, _: u64, _: Access) -> Result<BufferId, DeviceError> {
        Ok(BufferId(0))
    }
    fn load(&mut self, _: &Module) -> Result<ModuleId, DeviceError> {
        Ok(ModuleId(0))
    }
    fn record(&mut self, _: &[BoundNode]) -> Result<GraphId, DeviceError> {
        Ok(GraphId(0))
    }
    fn replay(&mut self, graph: GraphId, times: u32) -> Result<Duration, DeviceError> {
        self.replays += 1;
        if self.fails_at == Some(self.replays) {
            return Err(DeviceError { kind: crate::device::DeviceErrorKind::Launch, message: "refused".into() });
        }
        self.calls.push(format!("{}x{times}", graph.0));
        Ok(Duration::from_millis(1) * times)
    }
    fn flush_caches(&mut self) -> Result<(), DeviceError> {
        self.calls.push("flush".into());
        Ok(())
    }
    fn poison(&mut self, buffer: BufferId) -> Result<(), DeviceError> {
        self.calls.push(format!("poison{}", buffer.0));
        Ok(())
    }
}

fn draws() -> [Draw; 2] {
    [0, 1].map(|i| Draw { forward: GraphId(10 + i), backward: Some(GraphId(20 + i)), outputs: vec![BufferId(i)] })
}

const SCHEDULE: Schedule = Schedule { draws: 2, reps: 3, warmup: 1, min_rep_ns: 3_500_000 };

#[test]
fn reps_rotate_over_draws_and_nothing_touches_an_output_after_its_timed_run() {
    let mut device = Fake::default();
    let mut stages = Vec::new();
    let samples = run(&mut device, &draws(), SCHEDULE, |stage| stages.push(stage)).unwrap();
    let expected = "10x1 10x1 20x1 20x1 \
                    poison0 flush 10x4 flush 20x4 poison1 flush 11x4 flush 21x4 poison0 flush 10x4 flush 20x4";
    assert_eq!(device.calls.join(" "), expected);
    assert_eq!(samples.forward.iter().map(|s| s.draw).collect::<Vec<_>>(), [0, 1, 0]);
    assert_eq!(samples.backward[1], Sample { draw: 1, launches: 4, ns: 4_000_000 });
    assert_eq!(stages.len(), 8);
}

#[test]
fn forward_alone_and_no_draws() {
    let mut device = Fake::default();
    let forward_only = draws().map(|draw| Draw { backward: None, ..draw });
    let samples = run(&mut device, &forward_only, SCHEDULE, |_| {}).unwrap();
    assert_eq!((samples.forward.len(), samples.backward.len()), (3, 0));
    assert_eq!(run(&mut device, &[], SCHEDULE, |_| {}).unwrap(), Samples::default());
}

#[test]
fn a_refused_launch_ends_the_schedule_wherever_it_happens() {
    for at in 1..=10 {
        let mut device = Fake { fails_at: Some(at), ..Fake::default() };
        assert!(run(&mut device, &draws(), SCHEDULE, |_| {}).is_err(), "replay {at}");
    }
}
