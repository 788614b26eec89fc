//! The scheduler of one block: which thread of which warp runs next.
//!
//! Warps are 32-bit masks of live, ready and waiting lanes. A thread that blocks switches straight to the next ready
//! one; the last arriver at a barrier does not switch at all. Warp first, so that one warp's stacks stay in cache.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use super::abi::{Context, Entry};
use super::block::fiber_main;
use super::report::deadlock;
use super::stack::Stacks;
use super::switch::{first_frame, switch};

/// Threads per block at most, as CUDA has it.
pub(super) const MAX_THREADS: usize = 1024;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Running,
    AtBarrier,
    AtWarp,
    AtActiveMask,
    Done,
}

/// One thread of the block.
#[repr(align(64))]
pub(super) struct Thread {
    /// Stack pointer while suspended.
    pub(super) sp: *mut u8,
    /// Upper end of its stack, null before it first runs.
    pub(super) stack: *mut u8,
    pub(super) tid: [c_uint; 3],
    pub(super) state: State,
    pub(super) op: u8,
    pub(super) line: c_int,
    pub(super) file: *const c_char,
    pub(super) mask: u32,
}

/// One warp: masks over its lanes and what they exchange.
pub(super) struct Warp {
    pub(super) live: u32,
    pub(super) ready: u32,
    pub(super) at_barrier: u32,
    pub(super) at_warp: u32,
    pub(super) at_activemask: u32,
    /// Lanes at a warp operation all came with this operation and mask, unless `mixed`.
    pub(super) op: u8,
    pub(super) mixed: bool,
    pub(super) mask: u32,
    pub(super) value: [u64; 32],
    pub(super) param: [i32; 32],
    pub(super) width: [i32; 32],
}

/// What the arrivals at the block barrier have in common.
pub(super) struct Arrivals {
    pub(super) count: u32,
    pub(super) op: c_int,
    pub(super) line: c_int,
    pub(super) file: *const c_char,
    pub(super) sum: c_int,
}

/// State of one worker while it runs blocks.
pub(super) struct Sched {
    /// The worker's own context, resumed when a block is done.
    pub(super) main_sp: *mut u8,
    pub(super) context: *mut Context,
    pub(super) entry: *const Entry,
    pub(super) args: *mut *mut c_void,
    pub(super) threads_len: u32,
    pub(super) live: u32,
    /// Linear index of the running thread.
    pub(super) current: u32,
    /// Warps with ready lanes.
    pub(super) ready_warps: u32,
    pub(super) arrivals: Arrivals,
    pub(super) stacks: Stacks,
    pub(super) block: [c_uint; 3],
    pub(super) block_dim: [c_uint; 3],
    /// A block of this launch met a barrier: later blocks start as fibers.
    pub(super) fibers: bool,
    pub(super) threads: Box<[Thread]>,
    pub(super) warps: Box<[Warp]>,
}

thread_local! {
    /// The scheduler of this worker while it runs a block, else null.
    static CURRENT: Cell<*mut Sched> = const { Cell::new(std::ptr::null_mut()) };
}

#[inline(always)]
pub(super) fn sched() -> *mut Sched {
    CURRENT.get()
}

pub(super) fn set_sched(s: *mut Sched) {
    CURRENT.set(s);
}

impl Sched {
    pub(super) fn new(threads: usize, stack_bytes: usize) -> Self {
        let blank = || Thread {
            sp: std::ptr::null_mut(),
            stack: std::ptr::null_mut(),
            tid: [0; 3],
            state: State::Done,
            op: 0,
            line: 0,
            file: std::ptr::null(),
            mask: 0,
        };
        let warp = || Warp {
            live: 0,
            ready: 0,
            at_barrier: 0,
            at_warp: 0,
            at_activemask: 0,
            op: 0,
            mixed: false,
            mask: 0,
            value: [0; 32],
            param: [0; 32],
            width: [0; 32],
        };
        Self {
            main_sp: std::ptr::null_mut(),
            context: std::ptr::null_mut(),
            entry: std::ptr::null(),
            args: std::ptr::null_mut(),
            threads_len: 0,
            live: 0,
            current: 0,
            ready_warps: 0,
            arrivals: Arrivals { count: 0, op: 0, line: 0, file: std::ptr::null(), sum: 0 },
            stacks: Stacks::reserve(threads, stack_bytes),
            block: [0; 3],
            block_dim: [1; 3],
            fibers: false,
            threads: (0..threads.next_multiple_of(32)).map(|_| blank()).collect(),
            warps: (0..threads.div_ceil(32)).map(|_| warp()).collect(),
        }
    }

    #[inline(always)]
    pub(super) fn thread(&mut self, index: u32) -> &mut Thread {
        // SAFETY: indices come from the masks, which only have bits of existing threads.
        unsafe { self.threads.get_unchecked_mut(index as usize) }
    }

    #[inline(always)]
    pub(super) fn warp(&mut self, index: u32) -> &mut Warp {
        // SAFETY: as above.
        unsafe { self.warps.get_unchecked_mut(index as usize) }
    }

    /// What the last warp operation or counting barrier gave a thread.
    #[inline(always)]
    pub(super) fn value_of(&mut self, thread: u32) -> u64 {
        self.warp(thread >> 5).value[(thread & 31) as usize]
    }

    #[inline(always)]
    pub(super) fn set_ready(&mut self, warp: u32, lanes: u32) {
        self.warp(warp).ready |= lanes;
        if lanes != 0 {
            self.ready_warps |= 1 << warp;
        }
    }

    #[inline(always)]
    pub(super) fn clear_ready(&mut self, thread: u32) {
        let warp = thread >> 5;
        let w = self.warp(warp);
        w.ready &= !(1 << (thread & 31));
        if w.ready == 0 {
            self.ready_warps &= !(1 << warp);
        }
    }

    /// The next ready thread after the current one, taken off the ready masks, of which one must not be empty.
    #[inline(always)]
    pub(super) fn next_ready(&mut self) -> u32 {
        let (mut warp, lane) = (self.current >> 5, self.current & 31);
        let mut ready = self.warp(warp).ready;
        // `!1 << n` has the bits above bit n.
        let mut after = ready & (!1u32 << lane);
        if ready == 0 {
            let above = self.ready_warps & (!1u32 << warp);
            warp = (if above != 0 { above } else { self.ready_warps }).trailing_zeros();
            ready = self.warp(warp).ready;
            after = ready;
        }
        let lane = (if after != 0 { after } else { ready }).trailing_zeros();
        let left = ready & !(1 << lane);
        self.warp(warp).ready = left;
        if left == 0 {
            self.ready_warps &= !(1 << warp);
        }
        warp * 32 + lane
    }

    /// As [`Self::next_ready`]; None when all threads are done. Ends the process if those left cannot go on.
    pub(super) fn pick(&mut self) -> Option<u32> {
        while self.ready_warps == 0 {
            if self.live == 0 {
                return None;
            }
            self.wake_or_die();
        }
        Some(self.next_ready())
    }

    /// Nothing is ready: lanes parked at `__activemask` converge, else this is a deadlock.
    #[cold]
    fn wake_or_die(&mut self) {
        for warp in 0..self.warps.len() as u32 {
            if self.warp(warp).at_activemask != 0 {
                super::warp::converge_activemask(self, warp);
                return;
            }
        }
        deadlock(self)
    }

    /// The `file:line` where a thread last called into the runtime.
    pub(super) fn site(&self, thread: u32) -> Option<(String, i32)> {
        let t = self.threads.get(thread as usize)?;
        site(t.file, t.line)
    }
}

/// Owned copy of a call site that the shim passed.
pub(super) fn site(file: *const c_char, line: c_int) -> Option<(String, i32)> {
    if file.is_null() {
        return None;
    }
    // SAFETY: the shim passes `__builtin_FILE()`, a string literal of a loaded object.
    let file = unsafe { CStr::from_ptr(file) };
    Some((file.to_string_lossy().into_owned(), line))
}

/// Suspends the current thread and continues the next ready one. Returns what the operation gave the current thread,
/// once another has continued it.
///
/// Hot: this and its callers end in the switch itself, so that no frame but the switch's own is saved and restored.
///
/// # Safety
/// Runs on a fiber of `s`, whose current thread is not ready; nothing borrowed from `s` may be live across the call.
#[inline(always)]
pub(super) unsafe fn suspend(s: *mut Sched) -> u64 {
    // SAFETY: `s` is this worker's scheduler; the references end before the switch.
    unsafe {
        if (*s).ready_warps == 0 {
            return suspend_idle(s);
        }
        let from = (*s).current;
        let next = (*s).next_ready();
        resume(s, from, next)
    }
}

/// [`suspend`] where nothing may be ready, or only the current thread itself.
///
/// # Safety
/// As [`suspend`], but for the current thread's readiness.
#[cold]
#[inline(never)]
pub(super) unsafe fn suspend_idle(s: *mut Sched) -> u64 {
    // SAFETY: as in `suspend`.
    unsafe {
        let from = (*s).current;
        // A suspended thread is live, so `pick` never answers None here.
        let next = (*s).pick().unwrap_or(from);
        if next == from {
            (*s).thread(from).state = State::Running;
            return (*s).value_of(from);
        }
        resume(s, from, next)
    }
}

/// # Safety
/// As [`suspend`]; `next` must be a live thread other than `from`.
#[inline(always)]
unsafe fn resume(s: *mut Sched, from: u32, next: u32) -> u64 {
    // SAFETY: both threads exist.
    unsafe {
        (*s).current = next;
        let save = &raw mut (*s).thread(from).sp;
        let t = (*s).thread(next) as *mut Thread;
        (*t).state = State::Running;
        (*(*s).context).tid = (*t).tid;
        if (*t).stack.is_null() {
            return start(s, save, t);
        }
        prefetch(s, next);
        switch(save, (*t).sp, (*s).value_of(next))
    }
}

/// Continues a thread that has not run yet, on a fresh stack.
///
/// # Safety
/// As [`resume`].
#[inline(never)]
unsafe fn start(s: *mut Sched, save: *mut *mut u8, t: *mut Thread) -> u64 {
    // SAFETY: the stack is free and the frame lies at its upper end.
    unsafe {
        let top = (*s).stacks.take();
        (*t).stack = top;
        switch(save, first_frame(top, fiber_main), 0)
    }
}

/// Fetches the top of the stack that will most likely run after `next`.
#[inline(always)]
unsafe fn prefetch(s: *mut Sched, next: u32) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching never faults; the index is wrapped into the array.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let threads = &(*s).threads;
        let len = threads.len() as u32;
        let after = if next + 1 < len { next + 1 } else { 0 };
        let sp = (*s).thread(after).sp.cast::<i8>();
        _mm_prefetch::<_MM_HINT_T0>(sp);
        _mm_prefetch::<_MM_HINT_T0>(sp.wrapping_add(64));
        let then = if next + 2 < len { next + 2 } else { 0 };
        _mm_prefetch::<_MM_HINT_T0>((*s).thread(then) as *mut Thread as *const i8);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (s, next);
}

/// `__nanosleep` and failed exchanges: lets the other threads of the block run.
pub(super) unsafe extern "C" fn yield_now(line: c_int, file: *const c_char) {
    let s = sched();
    if s.is_null() {
        std::thread::yield_now();
        return;
    }
    // SAFETY: on a fiber of `s`; no reference into it survives the switch.
    unsafe {
        (*s).leave_plain_loop();
        let current = (*s).current;
        let t = (*s).thread(current);
        t.line = line;
        t.file = file;
        if (*s).ready_warps == 0 {
            std::hint::spin_loop();
            return;
        }
        let next = (*s).next_ready();
        (*s).set_ready(current >> 5, 1 << (current & 31));
        resume(s, current, next);
    }
}

/// Block and thread of the calling worker, if it runs a kernel.
pub(in crate::device::cpu) fn here() -> Option<super::report::Place> {
    let s = sched();
    if s.is_null() {
        return None;
    }
    // SAFETY: set only while this worker runs a block; read by the same OS thread (perhaps in a signal handler).
    unsafe {
        let context = (*s).context;
        let plain = (*context).plain != 0;
        let threads = &(*s).threads;
        let last = threads.get((*s).current as usize).filter(|_| !plain).map(|t| (t.file, t.line));
        Some(super::report::Place {
            entry: (*s).entry,
            block: (*s).block,
            thread: (*context).tid,
            last_call: last.unwrap_or((std::ptr::null(), 0)),
        })
    }
}

/// The address range of the running fiber's stack.
pub(in crate::device::cpu) fn fiber_stack_of() -> Option<std::ops::Range<usize>> {
    let s = sched();
    if s.is_null() {
        return None;
    }
    // SAFETY: as in `here`.
    unsafe {
        let plain = (*(*s).context).plain != 0;
        let index = if plain { 0 } else { (*s).current as usize };
        let threads = &(*s).threads;
        let top = threads.get(index)?.stack as usize;
        (top != 0).then(|| top - (*s).stacks.bytes()..top)
    }
}
