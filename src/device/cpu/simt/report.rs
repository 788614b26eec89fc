//! The one line that a faulting kernel leaves on stderr, and the process's end.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

use super::abi::Entry;
use super::sched::{Sched, State, here, site};

/// Exit status of a process whose kernel did something that a GPU would not survive.
pub const FAULT_EXIT: i32 = 70;

/// Where a kernel thread is.
#[derive(Clone, Copy)]
pub(in crate::device::cpu) struct Place {
    pub(in crate::device::cpu) entry: *const Entry,
    pub(in crate::device::cpu) block: [u32; 3],
    pub(in crate::device::cpu) thread: [u32; 3],
    /// Last call into the runtime; a null file before the first.
    pub(in crate::device::cpu) last_call: (*const c_char, c_int),
}

// SAFETY: the pointers are to data of loaded objects, which stay loaded.
unsafe impl Send for Place {}

/// A fault: what, which line, who.
pub(in crate::device::cpu) struct Fault {
    pub(in crate::device::cpu) what: String,
    pub(in crate::device::cpu) at: Option<(String, i32)>,
    pub(in crate::device::cpu) place: Option<Place>,
    pub(in crate::device::cpu) whole_block: bool,
}

impl Fault {
    /// A fault of the thread that the calling worker runs.
    pub(in crate::device::cpu) fn new(what: String) -> Self {
        Self { what, at: None, place: here(), whole_block: false }
    }

    pub(in crate::device::cpu) fn at(mut self, site: Option<(String, i32)>) -> Self {
        self.at = site;
        self
    }

    /// No single thread is to blame.
    pub(super) fn whole_block(mut self) -> Self {
        self.whole_block = true;
        self
    }

    /// `file.cu:12: what; kernel 'k', block (0,0,0), thread (5,0,0)`.
    pub(in crate::device::cpu) fn line(&self) -> String {
        let mut line = String::new();
        if let Some((file, number)) = &self.at {
            let _ = write!(line, "{}:{number}: ", short(file));
        }
        line.push_str(&self.what);
        if let Some(place) = &self.place {
            let [x, y, z] = place.block;
            let _ = write!(line, "; kernel '{}', block ({x},{y},{z})", kernel_name(place));
            if !self.whole_block {
                let [x, y, z] = place.thread;
                let _ = write!(line, ", thread ({x},{y},{z})");
            }
        }
        line
    }
}

/// The CUDA name expression of the kernel at a place.
pub(in crate::device::cpu) fn kernel_name(place: &Place) -> String {
    if place.entry.is_null() {
        return "?".to_owned();
    }
    // SAFETY: entries and their names are constants of a loaded object.
    unsafe { CStr::from_ptr((*place.entry).name).to_string_lossy().into_owned() }
}

/// A path's last component: reports name files as their author does.
pub(in crate::device::cpu) fn short(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

/// Prints the fault as one line on stderr and ends the process with [`FAULT_EXIT`]. Of several threads that fault
/// together the first one reports.
pub(in crate::device::cpu) fn fail(fault: Fault) -> ! {
    static REPORTED: AtomicBool = AtomicBool::new(false);
    if REPORTED.swap(true, Ordering::SeqCst) {
        loop {
            std::thread::park();
        }
    }
    write_line(&fault.line());
    // SAFETY: ends the process at once; other workers may be in the middle of kernels, so no destructor may run.
    unsafe { libc::_exit(FAULT_EXIT) }
}

/// One line to stderr in one write.
pub(in crate::device::cpu) fn write_line(line: &str) {
    let text = format!("{}\n", line.replace('\n', " "));
    // SAFETY: plain write of a live buffer.
    unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
}

/// `__trap`, failed `assert`.
pub(super) unsafe extern "C" fn trap(what: *const c_char, file: *const c_char, line: c_int) -> ! {
    // SAFETY: the shim passes string literals.
    let what = unsafe { CStr::from_ptr(what) }.to_string_lossy().into_owned();
    fail(Fault::new(what).at(site(file, line)))
}

/// Device-side `malloc`.
pub(super) unsafe extern "C" fn allocate(bytes: usize) -> *mut c_void {
    // SAFETY: any size is fine.
    unsafe { libc::malloc(bytes) }
}

/// Device-side `free`.
pub(super) unsafe extern "C" fn release(p: *mut c_void) {
    // SAFETY: the kernel passes what `allocate` gave, or libc ends the process.
    unsafe { libc::free(p) }
}

/// Ends the process: no thread of the block can go on. Lists who waits where.
#[cold]
pub(super) fn deadlock(s: &Sched) -> ! {
    let mut what = "deadlock: no thread of the block can go on".to_owned();
    let mut seen = vec![false; s.threads_len as usize];
    let mut first_site = None;
    let mut groups = 0;
    for index in 0..s.threads_len as usize {
        let t = &s.threads[index];
        if seen[index] || t.state == State::Done {
            continue;
        }
        let same: Vec<usize> = (index..s.threads_len as usize)
            .filter(|other| {
                let o = &s.threads[*other];
                o.state == t.state
                    && o.line == t.line
                    && o.file == t.file
                    && (t.state != State::AtWarp || o.mask == t.mask)
            })
            .collect();
        same.iter().for_each(|other| seen[*other] = true);
        groups += 1;
        if groups > 4 {
            continue;
        }
        let at = s.site(index as u32);
        let call = match t.state {
            State::AtWarp => format!("{}(mask 0x{:08x})", super::warp::name(t.op), t.mask),
            _ => format!("{}()", super::barrier::name(t.op)),
        };
        let line = at.as_ref().map_or_else(String::new, |(file, line)| format!(" at {}:{line}", short(file)));
        let _ = write!(what, "{} threads {} wait in {call}{line}", if groups == 1 { ":" } else { "," }, ranges(&same));
        first_site = first_site.or(at);
    }
    if groups > 4 {
        let _ = write!(what, ", and {} more groups", groups - 4);
    }
    fail(Fault::new(what).at(first_site).whole_block())
}

/// `0-15,32-47`.
fn ranges(sorted: &[usize]) -> String {
    let mut out = String::new();
    let mut rest = sorted;
    while let [first, ..] = rest {
        let run = rest.iter().enumerate().take_while(|(i, n)| **n == first + i).count();
        if out.len() > 60 {
            out.push_str(",…");
            break;
        }
        let comma = if out.is_empty() { "" } else { "," };
        let _ =
            if run == 1 { write!(out, "{comma}{first}") } else { write!(out, "{comma}{first}-{}", first + run - 1) };
        rest = &rest[run..];
    }
    out
}
