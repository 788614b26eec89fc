//! Plain data that the stages exchange: no behaviour beyond invariants, no I/O.

mod case;
mod dtype;
mod exit;
mod fault;
mod plan;
mod run;
mod signature;
mod target;

pub use case::{Case, CaseParseError, Scalar};
pub use dtype::{DType, ParseDTypeError};
pub use exit::Exit;
pub use fault::{Fault, Status};
pub use plan::{Arg, Buffer, BufferRef, KernelInfo, Module, Node, ParamInfo, ParamKind, Plan, Role, ScalarValue};
pub use run::{
    DeviceInfo, IpcHandle, LaunchFailure, LaunchFailureKind, LaunchReport, LaunchRequest, LauncherFrame, PlanError,
    PlanErrorKind, PlanReply, PlanRequest, Region, RunFailure, RunOutcome, RunStatus, Sample, Schedule, SharedBuffer,
    Stage, TimerInfo,
};
pub use signature::{Argument, Signature, TensorMeta};
pub use target::{DeviceKind, Target};
