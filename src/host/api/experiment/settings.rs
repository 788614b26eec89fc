//! What every step of an experiment is told.

use std::time::Duration;

use mlua::Value;
use serde::Deserialize;

use crate::host::{HostError, from_lua};

/// The settings table of a script. Steps read what they need of it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Settings {
    /// A device by its full name, `cpu` or `cuda:N`; for plans alone, an architecture such as `sm_90`.
    pub(super) device: String,
    /// Seed of the first draw.
    pub(super) seed: u64,
    /// Draws per case; each is graded and timed once.
    pub(super) reps: u32,
    /// Whether gradients are asked for.
    pub(super) backward: bool,
    /// Seconds that a child process may take.
    pub(super) timeout: f64,
    /// The tolerance table that the grading step uses.
    pub(super) tolerance: Table,
}

/// As `scripts/lib/tolerances.lua` gives it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    pub(super) honest_factor: f64,
    /// By dtype.
    pub(super) floor: std::collections::BTreeMap<String, f64>,
}

impl Settings {
    pub(super) fn from_lua(value: &Value, call: &str) -> Result<Self, HostError> {
        let settings: Self = from_lua(value, call)?;
        let refuse = |what: String| Err(HostError::usage(format!("{call}: {what}")));
        if !(1..=1000).contains(&settings.reps) {
            return refuse(format!("reps must be from 1 to 1000, got {}", settings.reps));
        }
        if !(settings.timeout > 0.0 && settings.timeout <= 86_400.0) {
            return refuse(format!("timeout must be from above 0 to 86400 seconds, got {}", settings.timeout));
        }
        Ok(settings)
    }

    pub(super) fn timeout(&self) -> Duration {
        Duration::from_secs_f64(self.timeout)
    }
}
