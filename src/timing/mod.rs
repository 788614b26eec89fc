//! The schedule of one case's launches: what runs in which order, what lies inside a timed window and what outside.

mod measure;

pub use measure::{Set, Times, measure};
