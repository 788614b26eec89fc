//! How far from truth an element may be.

use serde::{Deserialize, Serialize};

/// Bounds for one tensor (the table is `scripts/tolerances.lua`): `max|err| <= max(honest_factor * honest, floor * scale)` with `scale = max|truth|`,
/// never clamped up to 1 (an absolute floor would pass an all-zero softmax). The same two numbers bound the
/// root-mean-square error by the root mean square of truth; the signed mean error gets a part of that.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    /// Multiple of the honest error that is allowed.
    pub honest_factor: f64,
    /// Fraction of `scale` that is always allowed.
    pub floor: f64,
}

impl Tolerance {
    /// The bound on one norm of the error, given that norm of the honest error and of truth. Where twice the honest
    /// error reaches half of truth itself a wrong answer could hide behind it, so only the floor counts there.
    pub(super) fn bound(&self, honest: f64, truth: f64) -> f64 {
        let floor = self.floor * truth;
        let allowed = self.honest_factor * honest;
        if allowed > 0.5 * truth { floor } else { allowed.max(floor) }
    }
}
