//! Popcorn's own kernels in a launcher: the cache flush and the clock stamp.

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUdeviceptr, CUfunction, CUstream};

use super::driver::Gpu;
use super::memory::allocate;
use super::module::Kernel;

const SOURCE: &str = concat!(include_str!("probes.ptx"), "\0");
/// Global timer and clock of multiprocessor 0, before and after.
const STAMP_BYTES: u64 = 16;

pub(super) struct Probes {
    flush: CUfunction,
    stamp: CUfunction,
    /// Twice the L2 cache, all zeros.
    clean: CUdeviceptr,
    clean_bytes: u64,
    stamps: CUdeviceptr,
    processors: u32,
}

impl Probes {
    pub(super) fn load(gpu: &Gpu) -> Result<Self, DriverError> {
        // SAFETY: the text ends with a zero byte and outlives the call.
        let module = unsafe { result::module::load_data(SOURCE.as_ptr().cast()) }?;
        let clean_bytes = (2 * gpu.l2_bytes).max(1 << 20);
        let probes = Self {
            flush: Kernel::find(module, "popcorn_flush")?.function,
            stamp: Kernel::find(module, "popcorn_stamp")?.function,
            clean: allocate(clean_bytes)?,
            clean_bytes,
            stamps: allocate(2 * STAMP_BYTES)?,
            processors: gpu.processors,
        };
        // SAFETY: both allocations have these sizes.
        unsafe {
            result::memset_d8_sync(probes.clean, 0, clean_bytes as usize)?;
            result::memset_d8_sync(probes.stamps, 0, 2 * STAMP_BYTES as usize)?;
        }
        Ok(probes)
    }

    /// Reads the clean buffer, so that nothing else is left in the caches.
    pub(super) fn flush(&self, stream: CUstream) -> Result<(), DriverError> {
        launch(self.flush, 4 * self.processors, 512, &mut [self.clean, self.clean_bytes / 16], stream)
    }

    /// Stamps the clocks at the beginning (0) or the end (1) of a visit. One block per multiprocessor, so that one of
    /// them is on number 0.
    pub(super) fn stamp(&self, which: u64, stream: CUstream) -> Result<(), DriverError> {
        launch(self.stamp, 2 * self.processors, 1, &mut [self.stamps + which * STAMP_BYTES], stream)
    }

    /// Clock of multiprocessor 0 between the stamps, MHz; None when a stamp is missing.
    pub(super) fn sm_mhz(&self) -> Option<f64> {
        let mut words = [0u64; 4];
        // SAFETY: the allocation holds four words.
        unsafe { result::memcpy_dtoh_sync(&mut words, self.stamps) }.ok()?;
        let [start_ns, start, end_ns, end] = words;
        let known = start_ns != 0 && end_ns > start_ns && end > start;
        known.then(|| (end - start) as f64 * 1e3 / (end_ns - start_ns) as f64)
    }
}

/// Launches a kernel whose arguments are all 8 bytes.
fn launch(function: CUfunction, grid: u32, block: u32, args: &mut [u64], stream: CUstream) -> Result<(), DriverError> {
    let mut pointers: Vec<*mut std::ffi::c_void> = args.iter_mut().map(|arg| std::ptr::from_mut(arg).cast()).collect();
    // SAFETY: count and sizes are those in probes.ptx; the driver copies the arguments.
    unsafe {
        let nothing = std::ptr::null_mut();
        sys::cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, stream, pointers.as_mut_ptr(), nothing).result()
    }
}
