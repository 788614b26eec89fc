//! What the candidate has asked for so far. Every limit is enforced here, while recording.

use std::path::PathBuf;

use indexmap::{IndexMap, IndexSet};

use super::limits;
use crate::model::{BufferRef, DType, Node, PlanError, PlanErrorKind, Role, ScalarValue, Target};

/// Which of the candidate's functions is running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The file itself: kernels are declared, nothing is allocated or launched.
    Load,
    Forward,
    Backward,
}

/// A buffer and whether the running pass may touch it.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) buffer: crate::model::Buffer,
    pub(super) visible: bool,
    /// The pass that allocated it; inputs and cotangents count as [`Phase::Load`].
    pub(super) born: Phase,
}

/// A kernel argument before the kernel's parameter list is known.
#[derive(Clone, Copy, Debug)]
pub(super) enum Given {
    Tensor {
        at: BufferRef,
        dtype: DType,
    },
    Null,
    Int(i64),
    Float(f64),
    Bool(bool),
    /// `gpu.i32(v)` and its kin.
    Exact(ScalarValue),
}

/// A launch before its kernel is compiled.
#[derive(Debug)]
pub(super) struct Launch {
    pub(super) module: usize,
    /// Index into the module's instances.
    pub(super) kernel: usize,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) shared_bytes: u32,
    pub(super) args: Vec<Given>,
    pub(super) at: String,
}

#[derive(Debug)]
pub(super) enum Step {
    Launch(Launch),
    Node(Node),
}

/// Lives in the VM's app data; the functions of `gpu` write to it.
pub(super) struct Recorder {
    pub(super) target: Target,
    /// The candidate's file, relative to the root, and the folder it is in (canonical).
    pub(super) file: String,
    pub(super) folder: PathBuf,
    pub(super) op: String,
    pub(super) phase: Phase,
    /// `(source, options)` to the kernel instances that are launched.
    pub(super) modules: IndexMap<(PathBuf, Vec<String>), IndexSet<String>>,
    pub(super) slots: Vec<Slot>,
    pub(super) forward: Vec<Step>,
    pub(super) backward: Vec<Step>,
    arguments: usize,
    scratch_bytes: u64,
    /// A limit that was passed. `pcall` may hide the error from Lua but not from the planner.
    pub(super) fatal: Option<PlanError>,
}

impl Recorder {
    pub(super) fn new(target: Target, file: String, folder: PathBuf, op: String) -> Self {
        Self {
            target,
            file,
            folder,
            op,
            phase: Phase::Load,
            modules: IndexMap::new(),
            slots: Vec::new(),
            forward: Vec::new(),
            backward: Vec::new(),
            arguments: 0,
            scratch_bytes: 0,
            fatal: None,
        }
    }

    /// The name of the function that is running, for messages.
    pub(super) fn running(&self) -> String {
        match self.phase {
            Phase::Load => self.file.clone(),
            Phase::Forward => self.op.clone(),
            Phase::Backward => format!("{}_backward", self.op),
        }
    }

    /// Adds a step to the running pass.
    pub(super) fn push(&mut self, step: Step, at: &str) -> Result<(), PlanError> {
        if let Step::Launch(launch) = &step {
            self.arguments += launch.args.len();
        }
        if self.forward.len() + self.backward.len() >= limits::NODES {
            return Err(self.pass_limit(at, format!("more than {} launches in one plan", limits::NODES)));
        }
        if self.arguments > limits::ARGUMENTS {
            return Err(self.pass_limit(at, format!("more than {} kernel arguments in one plan", limits::ARGUMENTS)));
        }
        match self.phase {
            Phase::Load => Err(self.not_now(at)),
            Phase::Forward => {
                self.forward.push(step);
                Ok(())
            }
            Phase::Backward => {
                self.backward.push(step);
                Ok(())
            }
        }
    }

    /// A new scratch buffer of the running pass; it may become an output or a gradient when it is returned.
    pub(super) fn allocate(&mut self, dtype: DType, shape: Vec<u64>, at: &str) -> Result<u32, PlanError> {
        if self.phase == Phase::Load {
            return Err(self.not_now(at));
        }
        if self.slots.len() >= limits::BUFFERS {
            return Err(self.pass_limit(at, format!("more than {} tensors in one plan", limits::BUFFERS)));
        }
        let bytes = shape.iter().try_fold(dtype.size() as u64, |product, extent| product.checked_mul(*extent));
        let total = bytes.and_then(|bytes| self.scratch_bytes.checked_add(bytes));
        let memory = self.target.memory_bytes;
        let Some(total) = total.filter(|total| *total <= memory) else {
            let mut error = self.pass_limit(
                at,
                format!(
                    "gpu.empty({shape:?}, {dtype}) brings the plan's memory over the device's {:.1} GiB",
                    memory as f64 / (1u64 << 30) as f64
                ),
            );
            error.kind = PlanErrorKind::Oom;
            self.fatal = Some(error.clone());
            return Err(error);
        };
        self.scratch_bytes = total;
        let count = self.slots.iter().filter(|slot| slot.born != Phase::Load).count();
        let name = format!("scratch {count} ({at})");
        Ok(self.add(crate::model::Buffer { name, role: Role::Scratch, dtype, shape }, self.phase))
    }

    /// Adds a buffer that exists before the pass: an input or a cotangent.
    pub(super) fn add(&mut self, buffer: crate::model::Buffer, born: Phase) -> u32 {
        self.slots.push(Slot { buffer, visible: true, born });
        (self.slots.len() - 1) as u32
    }

    /// Refuses a buffer that the running pass was not given.
    pub(super) fn reach(&self, buffer: u32, at: &str) -> Result<&Slot, PlanError> {
        let slot = &self.slots[buffer as usize];
        if slot.visible {
            return Ok(slot);
        }
        Err(super::error::candidate(format!(
            "{at}: {}_backward uses '{}', which {} did not save; add it to the table that {} returns last",
            self.op, slot.buffer.name, self.op, self.op
        )))
    }

    /// Refuses to write what the judge owns.
    pub(super) fn writable(&self, buffer: u32, at: &str) -> Result<(), PlanError> {
        let slot = self.reach(buffer, at)?;
        match slot.buffer.role {
            Role::Input { .. } | Role::Cotangent { .. } => Err(super::error::candidate(format!(
                "{at}: '{}' is an input and must stay as it is; write to a tensor from gpu.empty_like",
                slot.buffer.name
            ))),
            _ => Ok(()),
        }
    }

    fn not_now(&self, at: &str) -> PlanError {
        super::error::candidate(format!(
            "{at}: tensors and launches belong inside {0} or {0}_backward, not at the top of the file",
            self.op
        ))
    }

    fn pass_limit(&mut self, at: &str, what: String) -> PlanError {
        let error = super::error::candidate(format!("{at}: {what} (in {})", self.running()));
        self.fatal.get_or_insert(error).clone()
    }
}
