//! The schedule of timed repetitions inside a launcher.
//!
//! A rep is one window between two events: `launches` replays of a recorded pass, no host work inside. Caches are
//! flushed and outputs poisoned before it, outside the window; what the timed replays wrote is what the judge grades.

mod schedule;

pub use schedule::{Draw, Samples, run};
