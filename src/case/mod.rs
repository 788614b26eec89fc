//! Cases: their ids and text form, the deterministic draw of inputs.
//!
//! Everything here is a pure function of a case (and a seed): the same bits on every machine and thread count.

mod draw;
mod id;
mod normal;
mod stream;
mod text;

pub use draw::{draw_bernoulli, draw_int, draw_normal, draw_uniform};
pub use id::{case_id, sample_id};
pub use normal::normal_quantiles;
pub use stream::{Stream, StreamKey};
pub use text::{Words, parse_scalar, python_float};
