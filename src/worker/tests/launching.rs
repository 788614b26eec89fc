//! The launcher's order of work, on a device that writes down what it is told. (As hyperfine's order tests do it.)

use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use crate::device::{Access, BoundNode, BufferId, Device, DeviceError, DeviceErrorKind, GraphId, ModuleId};
use crate::model::{
    Buffer, DType, DeviceInfo, LaunchFailureKind, LaunchReport, LaunchRequest, Module, Node, Plan, Role, Sample,
    ScalarValue, Schedule, Stage,
};
use crate::worker::{CaseMemory, launcher};

/// Remembers calls; a replay takes a microsecond each time.
#[derive(Default)]
struct Recorder {
    trace: Vec<String>,
    buffers: Vec<String>,
    graphs: u32,
    fail: Option<&'static str>,
}

impl Recorder {
    fn say(&mut self, word: &str, detail: String) -> Result<(), DeviceError> {
        self.trace.push(format!("{word} {detail}"));
        match self.fail {
            Some(at) if at == word => Err(DeviceError { kind: DeviceErrorKind::Launch, message: format!("no {word}") }),
            _ => Ok(()),
        }
    }

    fn name(&self, id: BufferId) -> &str {
        &self.buffers[id.0 as usize]
    }

    fn add(&mut self, name: String) -> BufferId {
        self.buffers.push(name);
        BufferId(self.buffers.len() as u32 - 1)
    }
}

impl Device for Recorder {
    fn describe(&self) -> DeviceInfo {
        DeviceInfo { kind: "fake".into(), name: "fake".into(), memory_bytes: 0, processors: 1, compiler: "none".into() }
    }

    fn alloc(&mut self, name: &str, bytes: u64) -> Result<BufferId, DeviceError> {
        self.say("alloc", format!("{name} {bytes}"))?;
        Ok(self.add(name.to_owned()))
    }

    fn import(
        &mut self,
        name: &str,
        _: BorrowedFd<'_>,
        offset: u64,
        bytes: u64,
        access: Access,
    ) -> Result<BufferId, DeviceError> {
        self.say("import", format!("{name} {offset}+{bytes} {access:?}"))?;
        Ok(self.add(name.to_owned()))
    }

    fn load(&mut self, module: &Module) -> Result<ModuleId, DeviceError> {
        self.say("load", module.key.clone())?;
        Ok(ModuleId(0))
    }

    fn record(&mut self, nodes: &[BoundNode]) -> Result<GraphId, DeviceError> {
        let filled: Vec<&str> = nodes
            .iter()
            .filter_map(|node| match node {
                BoundNode::Fill { buffer, .. } => Some(self.name(*buffer)),
                _ => None,
            })
            .collect();
        self.say("record", format!("{} fills {}", self.graphs, filled.join(" ")))?;
        self.graphs += 1;
        Ok(GraphId(self.graphs - 1))
    }

    fn replay(&mut self, graph: GraphId, times: u32) -> Result<Duration, DeviceError> {
        self.say("replay", format!("{}×{times}", graph.0))?;
        Ok(Duration::from_micros(1) * times)
    }

    fn flush_caches(&mut self) -> Result<(), DeviceError> {
        self.say("flush", String::new())
    }

    fn poison(&mut self, buffer: BufferId) -> Result<(), DeviceError> {
        let name = self.name(buffer).to_owned();
        self.say("poison", name)
    }
}

fn plan() -> Plan {
    let buffer = |name: &str, role| Buffer { name: name.into(), role, dtype: DType::F32, shape: vec![3] };
    let fill = |buffer| Node::Fill { buffer, value: ScalarValue::F32Bits(0), at: "f.lua:1".into() };
    Plan {
        compiler: String::new(),
        modules: vec![],
        buffers: vec![
            buffer("x", Role::Input { param: "x".into() }),
            buffer("s", Role::Scratch),
            buffer("y", Role::Output { index: 0 }),
            buffer("dy", Role::Cotangent { index: 0 }),
            buffer("dx", Role::Grad { param: "x".into() }),
        ],
        forward: vec![fill(2)],
        backward: vec![fill(4)],
    }
}

fn request(plan: Plan, memory: &CaseMemory) -> LaunchRequest {
    let schedule = Schedule { draws: 2, reps: 3, warmup: 2, min_rep_ns: 4500 };
    LaunchRequest { device: "fake".into(), plan, shared: memory.shared_buffers().to_vec(), schedule, backward: true }
}

fn launch(request: &LaunchRequest, device: &mut Recorder) -> Result<LaunchReport, crate::model::LaunchFailure> {
    let file = std::fs::File::open("/dev/null").unwrap();
    let stages = std::cell::RefCell::new(Vec::new());
    let result =
        launcher::launch(request, device, [file.as_fd(), file.as_fd()], &mut |stage| stages.borrow_mut().push(stage));
    assert!(stages.borrow().iter().all(|stage| *stage != Stage::Load));
    result
}

#[test]
fn the_order_of_work() {
    let memory = CaseMemory::new(&plan(), 2).unwrap();
    let mut device = Recorder::default();
    let report = launch(&request(plan(), &memory), &mut device).unwrap();
    let page = rustix::param::page_size() as u64;
    let at = |pages: u64| (pages + 1) * page - 16;
    let import = |name: &str, pages, access: &str| format!("import {name} {}+12 {access}", at(pages));
    let one_rep = |forward: u32, backward: u32| {
        [
            "poison s",
            "poison y",
            "flush ",
            &format!("replay {forward}×5"),
            "poison dx",
            "flush ",
            &format!("replay {backward}×5"),
        ]
        .map(str::to_owned)
    };
    let mut expected = vec!["alloc s 12".to_owned()];
    for draw in 0..2u64 {
        expected.push(import("x", 2 * draw, "Read"));
        expected.push(import("y", 2 * draw, "ReadWrite"));
        expected.push(import("dy", 2 * draw + 1, "Read"));
        expected.push(import("dx", 2 * draw + 1, "ReadWrite"));
        expected.push(format!("record {} fills y", 2 * draw));
        expected.push(format!("record {} fills dx", 2 * draw + 1));
    }
    expected.extend(["replay 0×1", "replay 0×1", "replay 1×1", "replay 1×1"].map(str::to_owned));
    expected.extend(one_rep(0, 1));
    expected.extend(one_rep(2, 3));
    expected.extend(one_rep(0, 1));
    assert_eq!(device.trace, expected);
    let samples = [0, 1, 0].map(|draw| Sample { draw, launches: 5, ns: 5000 });
    assert_eq!((report.forward.as_slice(), report.backward.as_slice()), (&samples[..], &samples[..]));
    assert_eq!(report.scratch_bytes, 12);
}

#[test]
fn forward_alone_runs_no_backward() {
    let memory = CaseMemory::new(&plan(), 2).unwrap();
    let mut device = Recorder::default();
    let report = launch(&LaunchRequest { backward: false, ..request(plan(), &memory) }, &mut device).unwrap();
    assert!(report.backward.is_empty() && report.forward.len() == 3);
    assert!(!device.trace.iter().any(|line| line.contains("fills dx") || line == "poison dx"));
}

#[test]
fn every_refusal_of_the_device_is_reported() {
    for word in ["alloc", "import", "record", "replay", "flush", "poison"] {
        let memory = CaseMemory::new(&plan(), 2).unwrap();
        let mut device = Recorder { fail: Some(word), ..Recorder::default() };
        let failure = launch(&request(plan(), &memory), &mut device).unwrap_err();
        assert_eq!((failure.kind, failure.message), (LaunchFailureKind::Launch, format!("no {word}")));
    }
}

#[test]
fn impossible_requests_are_refused() {
    let memory = CaseMemory::new(&plan(), 2).unwrap();
    let good = request(plan(), &memory);
    let mut huge = plan();
    huge.buffers[1].shape = vec![10 << 40];
    let failure = launch(&LaunchRequest { plan: huge, ..good.clone() }, &mut Recorder::default()).unwrap_err();
    assert_eq!(failure.kind, LaunchFailureKind::Oom);
    type Tamper = fn(&mut LaunchRequest);
    let tampered: &[Tamper] = &[
        |request| request.shared.clear(),
        |request| request.shared[0].bytes = 8,
        |request| request.shared[0].region = crate::model::Region::Outputs,
        |request| request.schedule.draws = 0,
        |request| request.schedule.draws = 3,
        |request| request.schedule.reps = 1,
        |request| request.schedule.reps = u32::MAX,
    ];
    for (index, tamper) in tampered.iter().enumerate() {
        let mut request = good.clone();
        tamper(&mut request);
        let failure = launch(&request, &mut Recorder::default()).expect_err(&format!("tamper {index}"));
        assert_eq!(failure.kind, LaunchFailureKind::Environment, "tamper {index}: {}", failure.message);
    }
}

#[test]
fn batches_are_bounded() {
    let memory = CaseMemory::new(&plan(), 2).unwrap();
    let mut request = request(plan(), &memory);
    for (min_rep_ns, launches) in [(0, 1), (1000, 1), (1001, 2), (u64::MAX, 10_000)] {
        request.schedule.min_rep_ns = min_rep_ns;
        let report = launch(&request, &mut Recorder::default()).unwrap();
        assert!(report.forward.iter().chain(&report.backward).all(|sample| sample.launches == launches));
    }
}
