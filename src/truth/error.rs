//! What can go wrong in a tensor operation.

use crate::model::DType;

/// A refused tensor operation, in one line that names the op, the operands and what was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Shapes, dtypes or values that do not fit the op.
    #[error("{op}: {message}")]
    Misuse { op: &'static str, message: String },
    /// The result would not fit the memory budget (see [`super::set_memory_budget`]).
    #[error("{op}: a {dtype} tensor of shape {shape:?} needs {}; {} of the {} tensor budget are in use",
            gib(*.bytes), gib(u128::from(*.live)), gib(u128::from(*.budget)))]
    Budget { op: &'static str, dtype: DType, shape: Vec<usize>, bytes: u128, live: u64, budget: u64 },
}

/// Result of a tensor operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn misuse(op: &'static str, message: impl Into<String>) -> Self {
        Self::Misuse { op, message: message.into() }
    }
}

fn gib(bytes: u128) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
        _ => format!("{:.1} GiB", bytes as f64 / 1_073_741_824.0),
    }
}
