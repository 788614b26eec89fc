//! Fiber stacks: lazily committed, each with a guard page below it.

use std::sync::Mutex;

use super::report::{Fault, fail};
use crate::device::cpu::memory::page_size;

/// Ranges that hold stacks, for the fault report: base, bytes of one slot, number of slots.
static REGIONS: Mutex<Vec<(usize, usize, usize)>> = Mutex::new(Vec::new());

/// Stacks for the fibers of one worker.
pub(super) struct Stacks {
    base: *mut u8,
    /// Usable bytes per stack.
    bytes: usize,
    slots: usize,
    opened: usize,
    free: Vec<*mut u8>,
}

impl Stacks {
    /// Reserves address space for `slots` stacks of `bytes` usable bytes; commits nothing.
    pub(super) fn reserve(slots: usize, bytes: usize) -> Self {
        let page = page_size();
        let bytes = bytes.next_multiple_of(page);
        let total = slots * (bytes + page);
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
            fail(Fault::new(format!("no address space for {slots} thread stacks of {bytes} bytes")));
        }
        if let Ok(mut regions) = REGIONS.lock() {
            regions.push((base as usize, bytes + page, slots));
        }
        Self { base: base.cast(), bytes, slots, opened: 0, free: Vec::with_capacity(slots) }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The upper end of a free stack.
    #[inline]
    pub(super) fn take(&mut self) -> *mut u8 {
        match self.free.pop() {
            Some(top) => top,
            None => self.open(),
        }
    }

    #[inline]
    pub(super) fn put(&mut self, top: *mut u8) {
        self.free.push(top);
    }

    #[cold]
    fn open(&mut self) -> *mut u8 {
        let page = page_size();
        let slot = self.opened;
        debug_assert!(slot < self.slots);
        self.opened += 1;
        let start = self.base.wrapping_add(slot * (self.bytes + page) + page);
        // SAFETY: the range lies inside our reservation.
        let failed = unsafe { libc::mprotect(start.cast(), self.bytes, libc::PROT_READ | libc::PROT_WRITE) != 0 };
        if failed {
            fail(Fault::new(format!(
                "no memory for the stack of thread {slot} of a block ({} bytes): {}",
                self.bytes,
                std::io::Error::last_os_error()
            )));
        }
        // Tops at different offsets within a page, or all stacks would compete for the same cache sets.
        start.wrapping_add(self.bytes - (slot * 320) % 4096 / 16 * 16)
    }
}

impl Drop for Stacks {
    fn drop(&mut self) {
        if let Ok(mut regions) = REGIONS.lock() {
            regions.retain(|region| region.0 != self.base as usize);
        }
        // SAFETY: the reservation is ours and no fiber runs on it any more.
        unsafe { libc::munmap(self.base.cast(), self.slots * (self.bytes + page_size())) };
    }
}

/// If `address` lies in the guard page of a fiber stack: the usable bytes of that stack.
pub(in crate::device::cpu) fn stack_guard_hit(address: usize) -> Option<usize> {
    let page = page_size();
    let regions = REGIONS.lock().ok()?;
    regions.iter().find_map(|&(base, slot, slots)| {
        let offset = address.checked_sub(base).filter(|offset| *offset < slot * slots)?;
        (offset % slot < page).then_some(slot - page)
    })
}
