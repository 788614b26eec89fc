//! `__syncthreads` and its counting variants.

use std::ffi::{c_char, c_int};

use super::report::{Fault, fail};
use super::sched::{Sched, State, sched, site, suspend};

/// Names by `simt_barrier` code.
const NAMES: [&str; 4] = ["__syncthreads", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or"];

pub(super) fn name(op: u8) -> &'static str {
    NAMES.get(usize::from(op)).copied().unwrap_or(NAMES[0])
}

/// Waits for all live threads of the block; returns the count or vote that `op` asks for.
pub(super) unsafe extern "C" fn barrier(op: c_int, predicate: c_int, line: c_int, file: *const c_char) -> u64 {
    let s = sched();
    // SAFETY: kernels run only while a scheduler is set; no reference into it survives the switch.
    unsafe {
        if !(*s).fibers {
            return first_barrier(op, predicate, line, file);
        }
        let current = (*s).current;
        let t = (*s).thread(current);
        t.state = State::AtBarrier;
        t.op = op as u8;
        t.line = line;
        t.file = file;
        let a = &mut (*s).arrivals;
        if a.count == 0 {
            (a.op, a.line, a.file) = (op, line, file);
            a.sum = 0;
        } else if a.line != line || a.op != op || a.file != file {
            return other_barrier(op, predicate, line, file);
        }
        a.sum += predicate;
        a.count += 1;
        let complete = a.count == (*s).live;
        (*s).warp(current >> 5).at_barrier |= 1 << (current & 31);
        if complete { last_arrival(s) } else { suspend(s) }
    }
}

/// The first barrier of a launch on this worker: its blocks are fibers from here on.
#[cold]
#[inline(never)]
unsafe fn first_barrier(op: c_int, predicate: c_int, line: c_int, file: *const c_char) -> u64 {
    let s = sched();
    // SAFETY: as in `barrier`.
    unsafe {
        (*s).leave_plain_loop();
        (*s).fibers = true;
        barrier(op, predicate, line, file)
    }
}

/// CUDA asks that all threads of a block reach the same barrier; another place or kind is a fault. Two spellings of
/// one file are the same place.
#[cold]
#[inline(never)]
unsafe fn other_barrier(op: c_int, predicate: c_int, line: c_int, file: *const c_char) -> u64 {
    let s = sched();
    // SAFETY: as in `barrier`.
    unsafe {
        (*s).check_same_barrier(op, line, file);
        (*s).arrivals.file = file;
        barrier(op, predicate, line, file)
    }
}

/// The last arriver does not wait.
#[inline(never)]
unsafe fn last_arrival(s: *mut Sched) -> u64 {
    // SAFETY: as in `barrier`.
    unsafe {
        (*s).release_barrier();
        let current = (*s).current;
        (*s).clear_ready(current);
        (*s).thread(current).state = State::Running;
        (*s).value_of(current)
    }
}

impl Sched {
    /// All live threads have arrived: they become ready again.
    pub(super) fn release_barrier(&mut self) {
        let (sum, count) = (self.arrivals.sum, self.arrivals.count as c_int);
        let result = match self.arrivals.op {
            0 => None,
            1 => Some(sum),
            2 => Some(c_int::from(sum == count)),
            _ => Some(c_int::from(sum != 0)),
        };
        self.arrivals.count = 0;
        for warp in 0..self.threads_len.div_ceil(32) {
            let waiting = std::mem::take(&mut self.warp(warp).at_barrier);
            if let Some(result) = result {
                self.warp(warp).value = [result as u64; 32];
            }
            self.set_ready(warp, waiting);
        }
    }

    fn check_same_barrier(&mut self, op: c_int, line: c_int, file: *const c_char) {
        let a = &self.arrivals;
        let (here, there) = (site(file, line), site(a.file, a.line));
        if here == there && a.op == op {
            return;
        }
        let there =
            there.map_or_else(String::new, |(file, line)| format!(" at {}:{line}", super::report::short(&file)));
        fail(
            Fault::new(format!(
                "divergent barrier: this thread is at {}() while others of its block wait at {}(){there}",
                name(op as u8),
                name(self.arrivals.op as u8)
            ))
            .at(here),
        );
    }
}
