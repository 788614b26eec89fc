//! `__syncthreads` and its counting variants.

use std::ffi::{c_char, c_int};

use super::report::{Fault, fail};
use super::sched::{Sched, State, sched, site, suspend};

/// Names by `simt_barrier` code.
const NAMES: [&str; 4] = ["__syncthreads", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or"];

pub(super) fn name(op: u8) -> &'static str {
    NAMES.get(usize::from(op)).copied().unwrap_or(NAMES[0])
}

pub(super) unsafe extern "C" fn barrier(op: c_int, predicate: c_int, line: c_int, file: *const c_char) -> c_int {
    let s = sched();
    // SAFETY: kernels run only while a scheduler is set; no reference into it survives the switch.
    unsafe {
        (*s).leave_plain_loop();
        (*s).fibers = true;
        let current = (*s).current;
        let t = (*s).thread(current);
        t.state = State::AtBarrier;
        t.op = op as u8;
        t.line = line;
        t.file = file;
        let first = (*s).arrivals.count == 0;
        let a = &mut (*s).arrivals;
        if first {
            (a.op, a.line, a.file) = (op, line, file);
            a.sum = 0;
        } else if a.line != line || a.op != op || a.file != file {
            (*s).check_same_barrier(op, line, file);
        }
        let a = &mut (*s).arrivals;
        a.sum += predicate;
        a.count += 1;
        let complete = a.count == (*s).live;
        (*s).warp(current >> 5).at_barrier |= 1 << (current & 31);
        if complete {
            (*s).release_barrier();
            (*s).clear_ready(current);
        } else {
            suspend(s);
        }
        let t = (*s).thread(current);
        t.state = State::Running;
        (*s).arrivals.result
    }
}

impl Sched {
    /// All live threads have arrived: they become ready again.
    pub(super) fn release_barrier(&mut self) {
        let (sum, count) = (self.arrivals.sum, self.arrivals.count as c_int);
        self.arrivals.result = match self.arrivals.op {
            1 => sum,
            2 => c_int::from(sum == count),
            3 => c_int::from(sum != 0),
            _ => 0,
        };
        self.arrivals.count = 0;
        for warp in 0..self.threads_len.div_ceil(32) {
            let waiting = std::mem::take(&mut self.warp(warp).at_barrier);
            self.set_ready(warp, waiting);
        }
    }

    /// CUDA asks that all threads of a block reach the same barrier; a different site or kind is a fault.
    #[cold]
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
