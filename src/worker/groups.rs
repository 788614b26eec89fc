//! The process groups that are alive, so that Ctrl-C can end them.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};

/// Leaders' process ids. One per process: a signal handler has no other way to reach them.
static LIVE: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

fn live() -> MutexGuard<'static, BTreeSet<i32>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills every live child with its whole group. For an interrupt handler that ends the process afterwards.
pub fn kill_all() {
    for leader in live().iter() {
        kill(*leader);
    }
}

/// Sends SIGKILL to a group; a group that is gone already is no error.
fn kill(leader: i32) {
    if let Some(pid) = Pid::from_raw(leader) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

/// A live group. Dropping it kills what is left of the group and takes it off the list.
#[derive(Debug)]
pub(super) struct Group(i32);

impl Group {
    /// The group that `leader` leads.
    pub(super) fn new(leader: u32) -> Self {
        let leader = leader as i32;
        live().insert(leader);
        Self(leader)
    }

    pub(super) fn kill(&self) {
        kill(self.0);
    }

    /// Asks the leader alone to say where it is (the cpu runtime answers SIGUSR1 with a line on stderr).
    pub(super) fn ask(&self) {
        if let Some(pid) = Pid::from_raw(self.0) {
            let _ = rustix::process::kill_process(pid, Signal::USR1);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let mut live = live();
        kill(self.0);
        live.remove(&self.0);
    }
}
