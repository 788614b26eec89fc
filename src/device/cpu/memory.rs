//! Device memory: private or shared mappings between guard pages, so that an overrun faults at once.

use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::{Mutex, OnceLock};

use crate::device::{Access, DeviceError, DeviceErrorKind, host_memory};

/// Inaccessible bytes on each side of a buffer. Address space only; wide, so that a stray row still lands in it.
const GUARD: usize = 4 << 20;
/// Alignment of a buffer's start; its end, rounded up to this, is the end of a page.
const ALIGN: usize = 16;

/// Bytes of a memory page.
pub(super) fn page_size() -> usize {
    static PAGE: OnceLock<usize> = OnceLock::new();
    // SAFETY: sysconf has no preconditions.
    *PAGE.get_or_init(|| unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.try_into().unwrap_or(4096))
}

/// For fault reports: where each buffer lies.
struct Known {
    name: String,
    start: usize,
    bytes: usize,
    reserved: std::ops::Range<usize>,
    access: Access,
}

static KNOWN: Mutex<Vec<Known>> = Mutex::new(Vec::new());

/// If `address` lies in or around a buffer: `out-of-bounds read of buffer 'x' at byte offset 4096 (4096 bytes)`.
pub(super) fn describe_address(address: usize, access: &str) -> Option<String> {
    let known = KNOWN.lock().ok()?;
    let buffer = known.iter().find(|buffer| buffer.reserved.contains(&address))?;
    let offset = address as i128 - buffer.start as i128;
    let inside = (0..buffer.bytes as i128).contains(&offset);
    Some(if inside && buffer.access == Access::Read {
        format!("write to read-only buffer '{}' at byte offset {offset} ({} bytes)", buffer.name, buffer.bytes)
    } else {
        format!("out-of-bounds {access} of buffer '{}' at byte offset {offset} ({} bytes)", buffer.name, buffer.bytes)
    })
}

/// A buffer and its guards.
pub(super) struct Memory {
    reserved: *mut u8,
    reserved_len: usize,
    start: *mut u8,
    pub(super) bytes: usize,
    pub(super) access: Access,
    pub(super) name: String,
}

impl Memory {
    /// Private memory, every byte 0xFF.
    pub(super) fn private(name: &str, bytes: usize) -> Result<Self, DeviceError> {
        let body = bytes.next_multiple_of(page_size());
        let (reserved, reserved_len) = reserve(name, body)?;
        let first = reserved.wrapping_add(GUARD);
        let pad = body - bytes.next_multiple_of(ALIGN).min(body);
        if body != 0 {
            // SAFETY: the range lies in our reservation.
            let failed = unsafe { libc::mprotect(first.cast(), body, libc::PROT_READ | libc::PROT_WRITE) != 0 };
            if failed {
                let error = std::io::Error::last_os_error();
                // SAFETY: the reservation is ours and unused.
                unsafe { libc::munmap(reserved.cast(), reserved_len) };
                return Err(oom(name, bytes as u64, &error.to_string()));
            }
        }
        let memory = Self::register(name, reserved, reserved_len, first.wrapping_add(pad), bytes, Access::ReadWrite);
        memory.poison();
        Ok(memory)
    }

    /// `bytes` at `offset` of a memory file.
    pub(super) fn shared(
        name: &str,
        file: BorrowedFd<'_>,
        offset: u64,
        bytes: usize,
        access: Access,
    ) -> Result<Self, DeviceError> {
        let environment = |message: String| DeviceError { kind: DeviceErrorKind::Environment, message };
        if !offset.is_multiple_of(ALIGN as u64) {
            return Err(environment(format!("buffer '{name}': file offset {offset} is not a multiple of {ALIGN}")));
        }
        let page = page_size() as u64;
        let lead = (offset % page) as usize;
        let body = (lead + bytes).next_multiple_of(page_size());
        let (reserved, reserved_len) = reserve(name, body)?;
        let first = reserved.wrapping_add(GUARD);
        if bytes != 0 {
            let protection = match access {
                Access::Read => libc::PROT_READ,
                Access::ReadWrite => libc::PROT_READ | libc::PROT_WRITE,
            };
            // SAFETY: replaces pages of our own reservation.
            let mapped = unsafe {
                libc::mmap(
                    first.cast(),
                    body,
                    protection,
                    libc::MAP_SHARED | libc::MAP_FIXED,
                    file.as_raw_fd(),
                    (offset - lead as u64) as libc::off_t,
                )
            };
            if mapped == libc::MAP_FAILED {
                let error = std::io::Error::last_os_error();
                // SAFETY: the reservation is ours and unused.
                unsafe { libc::munmap(reserved.cast(), reserved_len) };
                return Err(environment(format!("buffer '{name}': cannot map {bytes} bytes at {offset}: {error}")));
            }
        }
        Ok(Self::register(name, reserved, reserved_len, first.wrapping_add(lead), bytes, access))
    }

    fn register(
        name: &str,
        reserved: *mut u8,
        reserved_len: usize,
        start: *mut u8,
        bytes: usize,
        access: Access,
    ) -> Self {
        if let Ok(mut known) = KNOWN.lock() {
            let range = reserved as usize..reserved as usize + reserved_len;
            known.push(Known { name: name.to_owned(), start: start as usize, bytes, reserved: range, access });
        }
        Self { reserved, reserved_len, start, bytes, access, name: name.to_owned() }
    }

    /// Address of the first byte. For an empty buffer an address that faults when it is used.
    pub(super) fn start(&self) -> *mut u8 {
        self.start
    }

    /// Fills with 0xFF bytes. The buffer must be writable.
    pub(super) fn poison(&self) {
        if self.access == Access::ReadWrite {
            // SAFETY: the mapping is ours and writable for `bytes`.
            unsafe { self.start.write_bytes(0xFF, self.bytes) };
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Ok(mut known) = KNOWN.lock() {
            known.retain(|buffer| buffer.reserved.start != self.reserved as usize);
        }
        // SAFETY: the reservation is ours; no kernel runs while a device is changed.
        unsafe { libc::munmap(self.reserved.cast(), self.reserved_len) };
    }
}

/// Inaccessible address space for `body` bytes and two guards.
fn reserve(name: &str, body: usize) -> Result<(*mut u8, usize), DeviceError> {
    let total = body.checked_add(2 * GUARD).ok_or_else(|| oom(name, body as u64, "larger than the address space"))?;
    // SAFETY: an anonymous mapping at an address the kernel chooses.
    let base = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            total,
            libc::PROT_NONE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    if base == libc::MAP_FAILED {
        return Err(oom(name, body as u64, &std::io::Error::last_os_error().to_string()));
    }
    Ok((base.cast(), total))
}

fn oom(name: &str, bytes: u64, why: &str) -> DeviceError {
    DeviceError {
        kind: DeviceErrorKind::Oom,
        message: format!("buffer '{name}': no memory for {bytes} bytes ({}): {why}", gib(bytes)),
    }
}

/// `1.50 GiB`.
pub(super) fn gib(bytes: u64) -> String {
    format!("{:.2} GiB", bytes as f64 / (1u64 << 30) as f64)
}

/// Bytes that buffers of one process may take together: the machine's memory or the tightest limit on this process,
/// less a reserve of one eighth (at least 256 MiB) for everything else.
pub(super) fn budget() -> u64 {
    let limit = host_memory::total().min(address_limit());
    limit - (limit / 8).max(256 << 20).min(limit / 2)
}

fn address_limit() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `limit` is a valid place.
    unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) };
    if limit.rlim_cur == libc::RLIM_INFINITY { u64::MAX } else { limit.rlim_cur }
}
