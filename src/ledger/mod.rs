//! The record: one locked append per experiment, tolerant reading.
