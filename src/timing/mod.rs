//! The schedule of timed repetitions inside a launcher.
