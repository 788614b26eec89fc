//! The thread that turns a handler's note into a line.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

use super::symbols;
use crate::device::cpu::memory::describe_address;
use crate::device::cpu::simt::{Fault, Place, fail, stack_guard_hit};
use crate::device::cpu::simt::{short, write_line};

/// What a handler saw. Plain data: it travels through a pipe.
#[derive(Clone, Copy)]
pub(super) struct Note {
    pub(super) want: Want,
    pub(super) pc: usize,
    pub(super) sp: usize,
    /// Upper end of the stack that `sp` points into.
    pub(super) stack_end: usize,
    pub(super) place: Option<Place>,
}

#[derive(Clone, Copy)]
pub(super) enum Want {
    Fault {
        signal: c_int,
        code: c_int,
        address: usize,
        write: bool,
    },
    /// A question from outside; `ends` if the process is to end after the answer.
    Where {
        ends: bool,
    },
}

static PIPE: [AtomicI32; 2] = [AtomicI32::new(-1), AtomicI32::new(-1)];

/// Threads that may run kernels, so that a question can be passed on to one that does.
static THREADS: [AtomicI32; 256] = [const { AtomicI32::new(0) }; 256];
static THREADS_LEN: AtomicUsize = AtomicUsize::new(0);

pub(super) fn register_thread() {
    let index = THREADS_LEN.fetch_add(1, Ordering::SeqCst);
    if let Some(slot) = THREADS.get(index) {
        // SAFETY: gettid has no preconditions.
        slot.store(unsafe { libc::gettid() }, Ordering::SeqCst);
    }
}

/// Starts the reporter.
pub(super) fn start() {
    let mut ends = [-1; 2];
    // SAFETY: the array has room for both ends.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return;
    }
    PIPE[0].store(ends[0], Ordering::SeqCst);
    PIPE[1].store(ends[1], Ordering::SeqCst);
    // Without the thread a fault still ends the process, with the handler's own words.
    let _ = std::thread::Builder::new().name("simt report".to_owned()).spawn(serve);
}

/// Async-signal-safe: one write of less than PIPE_BUF bytes.
pub(super) fn leave(note: Note) {
    let bytes = (&raw const note).cast::<libc::c_void>();
    // SAFETY: the note lives for the call.
    unsafe { libc::write(PIPE[1].load(Ordering::SeqCst), bytes, size_of::<Note>()) };
}

fn serve() {
    // Signals go to threads that can answer them.
    // SAFETY: an empty set filled with two members is a valid argument.
    unsafe {
        let mut set = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGUSR1);
        libc::sigaddset(set.as_mut_ptr(), libc::SIGTERM);
        libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut());
    }
    // Replies to come from threads that a question was passed on to, and whether one has answered it.
    let (mut asked, mut answered) = (0usize, false);
    loop {
        let mut note = MaybeUninit::<Note>::uninit();
        // SAFETY: a note is written by `leave` in one piece, in this process.
        let note = unsafe {
            let got = libc::read(PIPE[0].load(Ordering::SeqCst), note.as_mut_ptr().cast(), size_of::<Note>());
            if got != size_of::<Note>() as isize {
                if got < 0 && std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted {
                    continue;
                }
                return;
            }
            note.assume_init()
        };
        match note.want {
            Want::Fault { signal, code, address, write } => report(&note, signal, code, address, write),
            Want::Where { ends } => {
                let is_reply = asked > 0;
                asked = asked.saturating_sub(1);
                match note.place {
                    Some(place) if !answered => {
                        answered = is_reply;
                        answer(&note, &place, ends);
                    }
                    None if !is_reply => asked = ask_others(ends),
                    _ => {}
                }
                if asked == 0 {
                    if ends {
                        end();
                    }
                    answered = false;
                }
            }
        }
    }
}

fn report(note: &Note, signal: c_int, code: c_int, address: usize, write: bool) -> ! {
    let access = if write { "write" } else { "read" };
    let what = match signal {
        libc::SIGFPE => "integer division by zero".to_owned(),
        libc::SIGILL => "illegal instruction (undefined behaviour that the compiler cut off)".to_owned(),
        libc::SIGABRT => "abort (heap corruption, or an error inside the runtime)".to_owned(),
        // A non-canonical or misaligned address raises a general protection fault without an address.
        _ if code == libc::SI_KERNEL => "misaligned vector access, or an address that no memory can have".to_owned(),
        _ => match (stack_guard_hit(address), describe_address(address, access)) {
            (Some(bytes), _) => format!("stack overflow: a thread needs more than {bytes} bytes of stack"),
            (None, Some(text)) => text,
            (None, None) if address < 1 << 16 => format!("null pointer {access} (address {address:#x})"),
            (None, None) => format!("{access} at {address:#x}, which is in no buffer"),
        },
    };
    fail(Fault { what, at: line_of(note), place: note.place, whole_block: false })
}

fn answer(note: &Note, place: &Place, ends: bool) {
    let at = line_of(note);
    let mut line =
        Fault { what: "kernel still running".to_owned(), at, place: Some(*place), whole_block: false }.line();
    if line.is_empty() {
        line.push_str("kernel still running");
    }
    write_line(&line);
    if ends {
        end();
    }
}

/// The line of the program counter, else of the nearest caller inside a kernel object, else of the last call into
/// the runtime.
fn line_of(note: &Note) -> Option<(String, i32)> {
    symbols::line_of(note.pc).or_else(|| symbols::line_of_caller(note.sp, note.stack_end)).or_else(|| {
        let (file, line) = note.place?.last_call;
        if file.is_null() {
            return None;
        }
        // SAFETY: a string literal of a loaded object.
        let file = unsafe { std::ffi::CStr::from_ptr(file) }.to_string_lossy().into_owned();
        Some((short(&file).to_owned(), line))
    })
}

/// Passes a question on to the threads that may run kernels; returns how many there are.
fn ask_others(ends: bool) -> usize {
    let signal = if ends { libc::SIGTERM } else { libc::SIGUSR1 };
    let len = THREADS_LEN.load(Ordering::SeqCst).min(THREADS.len());
    // SAFETY: signals to threads of this process; a thread that has ended gives an error that nobody needs.
    THREADS[..len]
        .iter()
        .filter(|slot| unsafe {
            libc::syscall(libc::SYS_tgkill, libc::getpid(), slot.load(Ordering::SeqCst), signal) == 0
        })
        .count()
}

fn end() -> ! {
    // SAFETY: ends the process as the default action of SIGTERM would, without destructors under running kernels.
    unsafe { libc::_exit(128 + libc::SIGTERM) }
}
