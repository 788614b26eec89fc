//! Signal handlers: record, wake the reporter, wait for the end.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use super::reporter::{self, Note, Want};
use crate::device::cpu::memory::page_size;
use crate::device::cpu::simt;

/// Bytes of the alternate signal stack; the handler needs a page or two.
const ALT_STACK: usize = 64 * 1024;

/// Installs the handlers and the reporter thread once per process; prepares the calling thread.
///
/// SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT end the process with [`super::super::FAULT_EXIT`] if a kernel runs on the thread.
/// SIGUSR1 prints where the running kernel is; SIGTERM does so and ends the process.
pub(in crate::device::cpu) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        reporter::start();
        for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT] {
            set_handler(signal, on_fault);
        }
        for signal in [libc::SIGUSR1, libc::SIGTERM] {
            set_handler(signal, on_question);
        }
    });
    prepare_thread();
}

fn set_handler(signal: c_int, handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void)) {
    // SAFETY: a zeroed sigaction with handler and flags set is valid.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER | libc::SA_RESTART;
        libc::sigemptyset(&raw mut action.sa_mask);
        libc::sigaction(signal, &raw const action, std::ptr::null_mut());
    }
}

/// Gives the calling thread a signal stack, because a fault may mean that its own is used up.
pub(in crate::device::cpu) fn prepare_thread() {
    thread_local! { static DONE: Cell<bool> = const { Cell::new(false) }; }
    if DONE.replace(true) {
        return;
    }
    // SAFETY: a fresh mapping that lives as long as the process.
    unsafe {
        let base = libc::mmap(
            std::ptr::null_mut(),
            ALT_STACK,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        if base != libc::MAP_FAILED {
            let stack = libc::stack_t { ss_sp: base, ss_flags: 0, ss_size: ALT_STACK };
            libc::sigaltstack(&raw const stack, std::ptr::null_mut());
        }
    }
    super::reporter::register_thread();
}

/// Program counter, stack pointer and whether the faulting access was a write.
fn machine(context: *mut c_void) -> (usize, usize, bool) {
    // SAFETY: the kernel passes a valid ucontext to a SA_SIGINFO handler.
    unsafe {
        let machine = &(*context.cast::<libc::ucontext_t>()).uc_mcontext;
        #[cfg(target_arch = "x86_64")]
        {
            let registers = &machine.gregs;
            let write = registers[libc::REG_ERR as usize] & 2 != 0;
            (registers[libc::REG_RIP as usize] as usize, registers[libc::REG_RSP as usize] as usize, write)
        }
        #[cfg(target_arch = "aarch64")]
        {
            (machine.pc as usize, machine.sp as usize, false)
        }
    }
}

extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    static FIRST: AtomicBool = AtomicBool::new(true);
    let Some(place) = simt::here() else {
        // Not a kernel's doing: the default action, with its core dump and status.
        // SAFETY: async-signal-safe calls.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
        return;
    };
    if !FIRST.swap(false, Ordering::SeqCst) {
        wait_for_end();
    }
    let (pc, sp, write) = machine(context);
    // SAFETY: the kernel passes a valid siginfo.
    let (address, code) = unsafe { ((*info).si_addr() as usize, (*info).si_code) };
    reporter::leave(Note {
        want: Want::Fault { signal, code, address, write },
        pc,
        sp,
        stack_end: readable_end(sp),
        place: Some(place),
    });
    wait_for_end();
}

extern "C" fn on_question(signal: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    let want = Want::Where { ends: signal == libc::SIGTERM };
    let place = simt::here();
    let (pc, sp, _) = if place.is_some() { machine(context) } else { (0, 0, false) };
    reporter::leave(Note { want, pc, sp, stack_end: readable_end(sp), place });
}

/// The end of what can surely be read above a stack pointer: the fiber's stack, or in the middle of a switch, when
/// the pointer is still on another, the rest of its page.
fn readable_end(sp: usize) -> usize {
    match simt::fiber_stack_of() {
        Some(stack) if stack.contains(&sp) => stack.end,
        _ => sp.next_multiple_of(page_size()),
    }
}

/// Parks a faulted thread; the reporter ends the process.
fn wait_for_end() -> ! {
    let pause = libc::timespec { tv_sec: 5, tv_nsec: 0 };
    // SAFETY: async-signal-safe calls; if no report came in time, the raw exit still tells the fault.
    unsafe {
        libc::nanosleep(&raw const pause, std::ptr::null_mut());
        let text = b"kernel fault (the report could not be made)\n";
        libc::write(2, text.as_ptr().cast(), text.len());
        libc::_exit(crate::device::cpu::FAULT_EXIT)
    }
}
