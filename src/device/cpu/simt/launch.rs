//! A launch: its blocks in increasing order over all cores.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::thread::Thread;

use super::abi::{Entry, Module, Shared};
use super::report::{Fault, fail};
use super::sched::{MAX_THREADS, Sched, set_sched};
use crate::device::cpu::fault;

/// Bytes after the static and the dynamic shared memory that must stay as they were.
const CANARY: usize = 64;
const CANARY_BYTE: u8 = 0xA5;
/// Fresh shared memory is a NaN in every float type, so that a missing store or barrier shows.
const POISON: u8 = 0xFF;
/// Turns that an idle worker looks for the next launch before it sleeps.
const SPINS: u32 = 400;

/// One kernel launch, checked and ready.
#[derive(Clone)]
pub(in crate::device::cpu) struct Launch {
    pub(in crate::device::cpu) module: *const Module,
    pub(in crate::device::cpu) entry: *const Entry,
    pub(in crate::device::cpu) grid: [u32; 3],
    pub(in crate::device::cpu) block: [u32; 3],
    pub(in crate::device::cpu) shared_bytes: u32,
    /// One pointer per parameter.
    pub(in crate::device::cpu) args: *mut *mut c_void,
}

/// A launch while its blocks are handed out. Lives on the launching thread's stack until `running` is zero.
struct Job {
    launch: Launch,
    next: AtomicU64,
    blocks: u64,
    chunk: u64,
    running: AtomicUsize,
    owner: Thread,
}

/// Where a sleeping worker finds its job.
struct Slot {
    job: AtomicPtr<Job>,
}

struct Helper {
    slot: Arc<Slot>,
    thread: Thread,
}

/// The launching thread and its helpers, one per further core, started when a launch first needs them.
pub(in crate::device::cpu) struct Workers {
    own: Worker,
    helpers: Vec<Helper>,
    max: usize,
}

impl Workers {
    /// At most `cores` workers, the calling thread included.
    pub(in crate::device::cpu) fn new(cores: usize) -> Self {
        Self { own: Worker { sched: None, stack_bytes: 0 }, helpers: Vec::new(), max: cores.max(1) }
    }

    /// Runs a launch to its end.
    ///
    /// # Safety
    /// The launch's module stays loaded and its arguments match the entry's parameters. A fault in the kernel ends
    /// the process.
    pub(in crate::device::cpu) unsafe fn run(&mut self, launch: &Launch) {
        let blocks = launch.grid.iter().map(|n| u64::from(*n)).product::<u64>();
        // SAFETY: the module is loaded; no kernel runs, so nobody reads the dimensions now.
        unsafe {
            *(*launch.module).block_dim = launch.block;
            *(*launch.module).grid_dim = launch.grid;
        }
        let threads: usize = launch.block.iter().map(|n| *n as usize).product();
        // Each fiber stack takes two of the process's mappings, of which Linux allows 65,530.
        let workers = self.max.min(30_000 / threads.max(1)).max(1).min(blocks.try_into().unwrap_or(usize::MAX));
        while self.helpers.len() + 1 < workers {
            if !self.start_helper() {
                break;
            }
        }
        let helpers = &self.helpers[..workers.saturating_sub(1).min(self.helpers.len())];
        let job = Job {
            launch: launch.clone(),
            next: AtomicU64::new(0),
            blocks,
            chunk: (blocks / (workers as u64 * 32)).clamp(1, 64),
            running: AtomicUsize::new(helpers.len()),
            owner: std::thread::current(),
        };
        for helper in helpers {
            helper.slot.job.store((&raw const job).cast_mut(), Ordering::Release);
            helper.thread.unpark();
        }
        // SAFETY: the caller's promise.
        unsafe { self.own.drain(&job) };
        let mut turns = 0;
        while job.running.load(Ordering::Acquire) != 0 {
            turns += 1;
            if turns < SPINS {
                std::hint::spin_loop();
            } else {
                std::thread::park();
            }
        }
    }

    /// False if the system has no more threads; the launch then runs on fewer.
    fn start_helper(&mut self) -> bool {
        let slot = Arc::new(Slot { job: AtomicPtr::new(std::ptr::null_mut()) });
        let mine = Arc::clone(&slot);
        let name = format!("simt {}", self.helpers.len() + 1);
        let Ok(handle) = std::thread::Builder::new().name(name).spawn(move || serve(&mine)) else { return false };
        self.helpers.push(Helper { slot, thread: handle.thread().clone() });
        true
    }
}

/// Marks a helper whose pool is gone.
const STOP: usize = usize::MAX;

impl Drop for Workers {
    fn drop(&mut self) {
        for helper in &self.helpers {
            helper.slot.job.store(std::ptr::without_provenance_mut(STOP), Ordering::Release);
            helper.thread.unpark();
        }
    }
}

fn serve(slot: &Slot) {
    fault::prepare_thread();
    let mut worker = Worker { sched: None, stack_bytes: 0 };
    let mut idle = 0;
    loop {
        let job = slot.job.load(Ordering::Acquire);
        if job.is_null() {
            idle += 1;
            if idle < SPINS {
                std::hint::spin_loop();
            } else {
                std::thread::park();
            }
            continue;
        }
        if job.addr() == STOP {
            return;
        }
        idle = 0;
        slot.job.store(std::ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: the launching thread keeps the job alive until `running` reaches zero.
        unsafe {
            worker.drain(&*job);
            let owner = (*job).owner.clone();
            if (*job).running.fetch_sub(1, Ordering::Release) == 1 {
                owner.unpark();
            }
        }
    }
}

struct Worker {
    sched: Option<Box<Sched>>,
    stack_bytes: usize,
}

impl Worker {
    /// Runs blocks of `job` until none is left.
    ///
    /// # Safety
    /// As [`Workers::run`].
    unsafe fn drain(&mut self, job: &Job) {
        let launch = &job.launch;
        // SAFETY: the module is loaded and describes itself; the scheduler is this worker's own.
        unsafe {
            let [stack_bytes, dynamic_max] = (*(*launch.module).limits).map(|limit| limit as usize);
            if self.sched.is_none() || stack_bytes > self.stack_bytes {
                self.sched = Some(Box::new(Sched::new(MAX_THREADS, stack_bytes)));
                self.stack_bytes = stack_bytes;
            }
            let Some(boxed) = self.sched.as_mut() else { return };
            let s: *mut Sched = &raw mut **boxed;
            let mut shared = std::mem::MaybeUninit::<Shared>::uninit();
            ((*launch.module).shared)(shared.as_mut_ptr());
            let shared = shared.assume_init();
            (*s).entry = launch.entry;
            (*s).args = launch.args;
            (*s).context = shared.context;
            (*s).block_dim = launch.block;
            (*s).fibers = false;
            let guard = SharedGuard::new(&shared, (launch.shared_bytes as usize).min(dynamic_max));
            loop {
                let first = job.next.fetch_add(job.chunk, Ordering::Relaxed);
                if first >= job.blocks {
                    break;
                }
                for block in first..(first + job.chunk).min(job.blocks) {
                    guard.arm();
                    set_sched(s);
                    Sched::run_block(s, block, launch.grid, launch.block);
                    guard.check();
                    set_sched(std::ptr::null_mut());
                }
            }
        }
    }
}

/// Poison and canaries around the shared memory of one worker.
struct SharedGuard {
    fixed: (*mut u8, usize),
    below: *mut u8,
    dynamic: (*mut u8, usize),
}

impl SharedGuard {
    fn new(shared: &Shared, dynamic_bytes: usize) -> Self {
        let start = shared.begin.wrapping_add(CANARY);
        Self {
            fixed: (start, shared.end as usize - start as usize),
            below: shared.begin,
            dynamic: (shared.dynamic, dynamic_bytes),
        }
    }

    /// # Safety
    /// The pointers are those of the calling worker's loaded object.
    #[inline]
    unsafe fn arm(&self) {
        // SAFETY: the object reserves the canaries and a pad after both areas.
        unsafe {
            if self.fixed.1 != 0 {
                self.fixed.0.write_bytes(POISON, self.fixed.1);
                self.below.write_bytes(CANARY_BYTE, CANARY);
                self.fixed.0.add(self.fixed.1).write_bytes(CANARY_BYTE, CANARY);
            }
            if self.dynamic.1 != 0 {
                self.dynamic.0.write_bytes(POISON, self.dynamic.1);
            }
            self.dynamic.0.add(self.dynamic.1).write_bytes(CANARY_BYTE, CANARY);
        }
    }

    /// # Safety
    /// As [`Self::arm`], after it.
    #[inline]
    unsafe fn check(&self) {
        // SAFETY: as in `arm`.
        unsafe {
            if self.fixed.1 != 0 {
                if let Some(at) = touched(self.fixed.0.add(self.fixed.1)) {
                    overrun(format!("write {} bytes past the end of static __shared__ memory", at + 1));
                }
                if let Some(at) = touched(self.below) {
                    overrun(format!("write {} bytes before static __shared__ memory", CANARY - at));
                }
            }
            if let Some(at) = touched(self.dynamic.0.add(self.dynamic.1)) {
                let (byte, size) = (self.dynamic.1 + at, self.dynamic.1);
                overrun(format!("write at byte offset {byte} of dynamic shared memory ({size} bytes)"));
            }
        }
    }
}

/// First byte of a canary that changed.
#[inline]
unsafe fn touched(canary: *const u8) -> Option<usize> {
    // SAFETY: the caller passes the start of a canary.
    let bytes = unsafe { &*canary.cast::<[u8; CANARY]>() };
    if *bytes == [CANARY_BYTE; CANARY] { None } else { bytes.iter().position(|byte| *byte != CANARY_BYTE) }
}

#[cold]
fn overrun(what: String) -> ! {
    fail(Fault::new(what).whole_block())
}
