//! The process groups that are alive now, so that an interrupt can end them.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};

static GROUPS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

fn groups() -> MutexGuard<'static, BTreeSet<i32>> {
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A group that is registered while this lives, and killed when it is dropped.
pub(super) struct Group(Pid);

impl Group {
    /// `leader`: a child that was started as the leader of a group of its own.
    pub(super) fn new(leader: Pid) -> Self {
        groups().insert(leader.as_raw_nonzero().get());
        Self(leader)
    }

    /// SIGKILL for every member that is left.
    pub(super) fn kill(&self) {
        // No such group: everybody is gone already.
        let _ = kill_process_group(self.0, Signal::KILL);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
        groups().remove(&self.0.as_raw_nonzero().get());
    }
}

/// Kills every live child and its descendants. For the interrupt handler.
pub fn kill_all() {
    for group in groups().iter().filter_map(|&raw| Pid::from_raw(raw)) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}
