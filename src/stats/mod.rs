//! Order statistics over raw samples.

mod quantile;

pub use quantile::{Summary, quantile};
