//! The launcher's order of work, on a device that writes down what it is told. (As hyperfine's order tests do it.)

use std::os::fd::AsFd;
use std::time::Duration;

use crate::device::{
    Access, BoundNode, BufferId, Device, DeviceError, DeviceErrorKind, GraphId, ModuleId, Shared, Step,
};
use crate::model::{
    Buffer, DType, DeviceInfo, LaunchFailureKind, LaunchReport, LaunchRequest, Module, Node, Plan, Role, Sample,
    ScalarValue, Schedule, Stage,
};
use crate::worker::{CaseMemory, launcher};

/// Remembers calls.
struct Recorder {
    /// Microseconds that a forward and a backward graph take.
    spent: [u32; 2],
    trace: Vec<String>,
    buffers: Vec<String>,
    graphs: u32,
    fail: Option<&'static str>,
}

impl Default for Recorder {
    fn default() -> Self {
        Self { spent: [1, 1], trace: Vec::new(), buffers: Vec::new(), graphs: 0, fail: None }
    }
}

impl Recorder {
    /// A device on which forward and backward take so many microseconds.
    fn taking(forward: u32, backward: u32) -> Self {
        Self { spent: [forward, backward], ..Self::default() }
    }

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
        _: Shared<'_>,
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

    fn rehearse(&mut self, graph: GraphId) -> Result<(), DeviceError> {
        self.say("rehearse", graph.0.to_string())
    }

    fn perform(&mut self, steps: &[Step]) -> Result<Vec<Duration>, DeviceError> {
        let names = |graphs: &[GraphId]| graphs.iter().map(|graph| graph.0.to_string()).collect::<Vec<_>>().join(" ");
        let mut times = Vec::new();
        self.say("perform", String::new())?;
        for step in steps {
            match step {
                Step::Poison(buffer) => {
                    let name = self.name(*buffer).to_owned();
                    self.say("poison", name)?;
                }
                Step::Flush => self.say("flush", String::new())?,
                Step::Run(graphs) => self.say("run", names(graphs))?,
                Step::Timed(graphs) => {
                    self.say("timed", names(graphs))?;
                    // Forward graphs are the even ones.
                    let spent = graphs.iter().map(|graph| self.spent[graph.0 as usize % 2]).sum::<u32>();
                    times.push(Duration::from_micros(spent.into()));
                }
            }
        }
        Ok(times)
    }

    fn finish(&mut self) -> Result<(), DeviceError> {
        self.say("finish", String::new())
    }

    fn available(&self) -> u64 {
        1 << 30
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
    let schedule = Schedule { sets: 3, reps: 2, warmup: 2, min_rep_ns: 2000 };
    let shared = memory.shared_buffers().to_vec();
    LaunchRequest { device: "fake".into(), plan, handles: None, shared, schedule, backward: true }
}

fn launch(request: &LaunchRequest, device: &mut Recorder) -> Result<LaunchReport, crate::model::LaunchFailure> {
    let file = std::fs::File::open("/dev/null").unwrap();
    let stages = std::cell::RefCell::new(Vec::new());
    let result = launcher::launch(request, device, [Shared::File(file.as_fd()); 2], &mut |stage| {
        stages.borrow_mut().push(stage)
    });
    assert!(stages.borrow().iter().all(|stage| *stage != Stage::Load));
    result
}

/// What the device was told after the sets were recorded.
fn timed_part(device: &Recorder) -> Vec<&str> {
    let start = device.trace.iter().position(|line| line.starts_with("rehearse")).unwrap();
    device.trace[start..].iter().map(|line| line.trim_end()).collect()
}

#[test]
fn sets_are_bound_to_the_judges_memory() {
    let memory = CaseMemory::new(&plan(), 3).unwrap();
    let mut device = Recorder::default();
    let report = launch(&request(plan(), &memory), &mut device).unwrap();
    let page = rustix::param::page_size() as u64;
    let import =
        |name: &str, pages: u64, access: &str| format!("import {name} {}+12 {access}", (pages + 1) * page - 16);
    let mut expected = Vec::new();
    for set in 0..3u64 {
        expected.push(import("x", 2 * set, "Read"));
        expected.push("alloc s 12".to_owned());
        expected.push(import("y", 2 * set, "ReadWrite"));
        expected.push(import("dy", 2 * set + 1, "Read"));
        expected.push(import("dx", 2 * set + 1, "ReadWrite"));
        expected.push(format!("record {} fills y", 2 * set));
        expected.push(format!("record {} fills dx", 2 * set + 1));
    }
    assert_eq!(device.trace[..expected.len()], expected);
    assert_eq!(report.scratch_bytes, 12);
}

#[test]
fn launches_rotate_over_the_sets() {
    let memory = CaseMemory::new(&plan(), 3).unwrap();
    let mut device = Recorder::taking(1, 2);
    let report = launch(&request(plan(), &memory), &mut device).unwrap();
    let warm_up = |graph: &str| {
        [format!("rehearse {graph}"), "perform".into(), format!("timed {graph}"), format!("timed {graph}")]
    };
    let rep = |forward: &str, backward: &str, rest: &str| {
        let part = [
            "poison s",
            "poison s",
            "poison y",
            "poison y",
            "flush",
            forward,
            "poison dx",
            "poison dx",
            "flush",
            backward,
            rest,
        ];
        part.map(str::to_owned)
    };
    let mut expected = [warm_up("0"), warm_up("1")].concat();
    expected.push("perform".to_owned());
    expected.extend(rep("timed 0 2", "timed 1", "run 3"));
    expected.extend(rep("timed 4 0", "timed 5", "run 1"));
    expected.push("finish".to_owned());
    assert_eq!(timed_part(&device), expected);
    let sample = |launches| Sample { launches, ns: 2000 };
    assert_eq!((report.forward.as_slice(), report.backward.as_slice()), (&[sample(2); 2][..], &[sample(1); 2][..]));
    assert_eq!([1, 3, 4, 5].map(|sets| report.covered(sets)), [1, 3, 4, 4]);
}

#[test]
fn backward_finds_what_forward_saved_on_every_set() {
    let memory = CaseMemory::new(&plan(), 5).unwrap();
    let mut device = Recorder::taking(2, 1);
    let mut request = request(plan(), &memory);
    request.schedule = Schedule { sets: 5, min_rep_ns: 5000, ..request.schedule };
    launch(&request, &mut device).unwrap();
    let launches: Vec<_> = timed_part(&device).into_iter().filter(|line| line.contains(' ')).skip(6).collect();
    let rep = |timed: &str, run: &str, backward: &str| {
        let mut lines = vec!["poison s"; 5];
        lines.extend(["poison y"; 5]);
        lines.extend([timed, run].map(|line| &*line.to_owned().leak()));
        lines.extend(["poison dx"; 5]);
        lines.push(backward.to_owned().leak());
        lines
    };
    let rep = rep("timed 0 2 4", "run 6 8", "timed 1 3 5 7 9");
    assert_eq!(launches, [rep.clone(), rep].concat());
}

#[test]
fn forward_alone_runs_no_backward() {
    let memory = CaseMemory::new(&plan(), 3).unwrap();
    let mut device = Recorder::default();
    let report = launch(&LaunchRequest { backward: false, ..request(plan(), &memory) }, &mut device).unwrap();
    assert!(report.backward.is_empty() && report.forward.len() == 2);
    assert!(!device.trace.iter().any(|line| line.contains("fills dx") || line == "poison dx"));
}

#[test]
fn every_refusal_of_the_device_is_reported() {
    for word in ["alloc", "import", "record", "rehearse", "perform", "flush", "poison", "timed", "finish"] {
        let memory = CaseMemory::new(&plan(), 3).unwrap();
        let mut device = Recorder { fail: Some(word), ..Recorder::default() };
        let failure = launch(&request(plan(), &memory), &mut device).unwrap_err();
        assert_eq!((failure.kind, failure.message), (LaunchFailureKind::Launch, format!("no {word}")));
    }
}

#[test]
fn impossible_requests_are_refused() {
    let memory = CaseMemory::new(&plan(), 3).unwrap();
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
        |request| request.schedule.sets = 0,
        |request| request.schedule.sets = 4,
        |request| request.schedule.reps = 0,
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
    let memory = CaseMemory::new(&plan(), 3).unwrap();
    let mut request = request(plan(), &memory);
    for (min_rep_ns, launches) in [(0, 1), (1000, 1), (1001, 2), (u64::MAX, 10_000)] {
        request.schedule.min_rep_ns = min_rep_ns;
        let report = launch(&request, &mut Recorder::default()).unwrap();
        assert!(report.forward.iter().chain(&report.backward).all(|sample| sample.launches == launches));
    }
}
