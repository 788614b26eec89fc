//! Grading: outputs and gradients against fp64 truth and the honest error.
//!
//! One tensor at a time: [`grade`] compares every element of a candidate's tensor with truth, under a
//! [`Tolerance`] whose bound follows from the error of an honest evaluation at the same precision.
//! [`Tally`] folds the grades of several draws into one line per tensor.

mod class;
mod grade;
mod tally;
mod tolerance;

pub use class::Class;
pub use grade::{Fault, TensorGrade, Worst, grade};
pub use tally::Tally;
pub use tolerance::Tolerance;
