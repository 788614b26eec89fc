//! Ops: the typed form of `ops/<name>.lua`, its cases, inputs and reference.

mod case;
mod evaluate;
mod inputs;
mod load;
mod shape;
mod signature;
mod spec;

pub use case::CaseTable;
pub use evaluate::Evaluation;
pub(crate) use inputs::normal;
pub use load::Op;
pub use shape::{Element, Extent, TypeSpec};
pub use signature::Work;
pub use spec::{Bound, OpFunctions, OpSpec, Param, ScalarParam, TensorParam};

#[cfg(test)]
mod tests;
