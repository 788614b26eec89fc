//! One block: from its first thread to its last.
//!
//! A block starts as a plain loop over its threads (no fiber per thread, the kernel inlined into the loop). The first
//! barrier, warp operation or yield turns it into fibers: threads before the caller are done, the caller goes on
//! where it is, those after it have not started.

use std::ffi::c_uint;

use super::sched::{Sched, State, Thread, sched};
use super::switch::{first_frame, switch};

/// Extent of a block or grid.
pub(super) type Dim = [c_uint; 3];

impl Sched {
    /// Runs block `index` of `grid` to its end on the calling worker.
    ///
    /// # Safety
    /// The scheduler is the calling worker's current one, with entry, arguments and context set.
    pub(super) unsafe fn run_block(s: *mut Sched, index: u64, grid: Dim, block: Dim) {
        // SAFETY: nothing borrowed from `s` is live across the switch.
        unsafe {
            let (gx, gy) = (u64::from(grid[0]), u64::from(grid[1]));
            let at = [(index % gx) as u32, (index / gx % gy) as u32, (index / (gx * gy)) as u32];
            (*s).block = at;
            (*(*s).context).bid = at;
            let n = block[0] * block[1] * block[2];
            (*s).threads_len = n;
            (*s).live = n;
            (*s).current = 0;
            (*s).arrivals.count = 0;
            let stack = (*s).stacks.take();
            if (*s).fibers {
                (*s).start_threads(block);
                (*s).clear_ready(0);
                (*(*s).context).plain = 0;
            } else {
                (*(*s).context).plain = 1;
            }
            let first = (*s).thread(0) as *mut Thread;
            (*first).stack = stack;
            (*(*s).context).tid = [0; 3];
            switch(&raw mut (*s).main_sp, first_frame(stack, fiber_main), 0);
        }
    }

    /// Every thread ready and without a stack.
    fn start_threads(&mut self, block: Dim) {
        let n = self.threads_len;
        let mut tid = [0; 3];
        for thread in &mut self.threads[..n as usize] {
            thread.tid = tid;
            thread.stack = std::ptr::null_mut();
            thread.state = State::Running;
            thread.line = 0;
            thread.file = std::ptr::null();
            tid[0] += 1;
            if tid[0] == block[0] {
                tid = [0, tid[1] + 1, tid[2]];
                if tid[1] == block[1] {
                    tid = [0, 0, tid[2] + 1];
                }
            }
        }
        self.ready_warps = 0;
        for warp in 0..n.div_ceil(32) {
            let lanes = n - warp * 32;
            let all = if lanes >= 32 { !0 } else { (1 << lanes) - 1 };
            let w = self.warp(warp);
            (w.live, w.ready, w.at_barrier, w.at_warp, w.at_activemask) = (all, all, 0, 0, 0);
            self.ready_warps |= 1 << warp;
        }
    }

    /// Before a thread waits for the first time in its block: from the plain loop to fibers.
    #[inline(always)]
    pub(super) fn leave_plain_loop(&mut self) {
        // SAFETY: the context belongs to this worker.
        if unsafe { (*self.context).plain } != 0 {
            self.become_fibers();
        }
    }

    #[cold]
    fn become_fibers(&mut self) {
        // SAFETY: the context belongs to this worker.
        let tid = unsafe {
            (*self.context).plain = 0;
            (*self.context).tid
        };
        let stack = self.thread(0).stack;
        self.start_threads(self.block_dim);
        let dim = self.block_dim;
        let current = (tid[2] * dim[1] + tid[1]) * dim[0] + tid[0];
        for before in 0..current {
            self.thread(before).state = State::Done;
            self.warp(before >> 5).live &= !(1 << (before & 31));
            self.clear_ready(before);
        }
        self.clear_ready(current);
        self.live -= current;
        self.current = current;
        self.thread(current).stack = stack;
    }

    /// Takes the finished current thread out of all masks and lets those go on that waited only for it.
    fn finish(&mut self) {
        let current = self.current;
        self.thread(current).state = State::Done;
        self.live -= 1;
        let warp = current >> 5;
        self.warp(warp).live &= !(1 << (current & 31));
        // Exited threads count as arrived, as on GPUs since Volta.
        if self.arrivals.count != 0 && self.arrivals.count == self.live {
            self.release_barrier();
        }
        if self.warp(warp).at_warp != 0 {
            self.complete_after_exit(warp);
        }
    }
}

/// Body of every fiber: runs threads until none is left to start, then hands over for good.
pub(super) unsafe extern "C" fn fiber_main() -> ! {
    let s = sched();
    // SAFETY: `s` is this worker's scheduler; fibers never move to another OS thread.
    unsafe {
        loop {
            let entry = (*s).entry;
            ((*entry).run)((*s).args, (*s).current);
            let mut discard = std::ptr::null_mut();
            let current = (*s).current;
            let stack = (*s).thread(current).stack;
            if (*(*s).context).plain != 0 {
                (*s).stacks.put(stack);
                switch(&raw mut discard, (*s).main_sp, 0);
            }
            (*s).finish();
            let Some(next) = (*s).pick() else {
                (*s).stacks.put(stack);
                switch(&raw mut discard, (*s).main_sp, 0);
                std::process::abort();
            };
            (*s).current = next;
            let t = (*s).thread(next) as *mut Thread;
            (*t).state = State::Running;
            (*(*s).context).tid = (*t).tid;
            if (*t).stack.is_null() {
                // The next thread starts on the stack that this one leaves.
                (*t).stack = stack;
                continue;
            }
            (*s).stacks.put(stack);
            switch(&raw mut discard, (*t).sp, (*s).value_of(next));
        }
    }
}
