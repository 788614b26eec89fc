//! Order statistics over raw samples.
