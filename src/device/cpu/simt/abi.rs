//! The contract with `shim/simt/abi.h`; the two files change together.

use std::ffi::{c_char, c_int, c_uint, c_ulong, c_ulonglong, c_void};

/// `SIMT_ABI` of the shim that this build embeds.
pub(in crate::device::cpu) const ABI: c_uint = 1;

/// Where a kernel thread is; lives in the object's thread-local storage.
#[repr(C)]
pub(in crate::device::cpu) struct Context {
    pub(in crate::device::cpu) tid: [c_uint; 3],
    pub(in crate::device::cpu) bid: [c_uint; 3],
    /// Nonzero while the threads of a block run one after another as a plain loop.
    pub(in crate::device::cpu) plain: c_uint,
    reserved: c_uint,
}

/// Functions given to an object.
#[repr(C)]
pub(in crate::device::cpu) struct Runtime {
    pub(super) barrier: unsafe extern "C" fn(c_int, c_int, c_int, *const c_char) -> u64,
    pub(super) warp: unsafe extern "C" fn(c_uint, c_uint, c_ulonglong, c_int, c_int, *const c_char) -> u64,
    pub(super) activemask: unsafe extern "C" fn(c_int, *const c_char) -> u64,
    pub(super) yield_now: unsafe extern "C" fn(c_int, *const c_char),
    pub(super) trap: unsafe extern "C" fn(*const c_char, *const c_char, c_int) -> !,
    pub(super) allocate: unsafe extern "C" fn(usize) -> *mut c_void,
    pub(super) release: unsafe extern "C" fn(*mut c_void),
}

impl Runtime {
    /// The table that every object gets.
    pub(in crate::device::cpu) const fn table() -> Self {
        Self {
            barrier: super::barrier::barrier,
            warp: super::warp::warp,
            activemask: super::warp::activemask,
            yield_now: super::sched::yield_now,
            trap: super::report::trap,
            allocate: super::report::allocate,
            release: super::report::release,
        }
    }
}

/// One kernel instance.
#[repr(C)]
pub(in crate::device::cpu) struct Entry {
    pub(in crate::device::cpu) name: *const c_char,
    pub(in crate::device::cpu) run: unsafe extern "C" fn(*mut *mut c_void, c_uint),
    pub(in crate::device::cpu) params_len: c_uint,
}

/// The calling worker's copy of an object's shared memory.
#[repr(C)]
pub(in crate::device::cpu) struct Shared {
    pub(in crate::device::cpu) begin: *mut u8,
    pub(in crate::device::cpu) end: *mut u8,
    pub(in crate::device::cpu) dynamic: *mut u8,
    pub(in crate::device::cpu) context: *mut Context,
}

/// What an object exports as `simt_module`.
#[repr(C)]
pub(in crate::device::cpu) struct Module {
    pub(in crate::device::cpu) abi: c_uint,
    pub(in crate::device::cpu) entries_len: c_uint,
    pub(in crate::device::cpu) entries: *const Entry,
    pub(in crate::device::cpu) runtime: *mut Runtime,
    pub(in crate::device::cpu) block_dim: *mut [c_uint; 3],
    pub(in crate::device::cpu) grid_dim: *mut [c_uint; 3],
    pub(in crate::device::cpu) shared: unsafe extern "C" fn(*mut Shared),
    /// Bytes of stack per thread; bytes of dynamic shared memory at most.
    pub(in crate::device::cpu) limits: *const [c_ulong; 2],
}
