//! The embedded device: unmodified CUDA C++ on the host's cores.
//!
//! The host's C++ compiler builds a `.cu` file against our own headers (`shim/`) into a shared object, cached by
//! content. A launch runs its blocks on worker threads; the threads of a block are fibers that switch at barriers and
//! warp operations, or a plain loop where a kernel has none. A kernel that does what a GPU would not survive ends
//! the process with [`FAULT_EXIT`] after one line on stderr.

mod compile;
mod context;
mod device;
mod diagnose;
mod fault;
mod features;
mod graph;
mod host;
mod inspect;
mod matmul;
mod memory;
mod module;
mod shim;
mod simt;
mod toolchain;
mod wrapper;
#[cfg(test)]
mod tests;

pub use compile::{CpuCompiler, prepare_runtime};
pub use device::{CpuDevice, describe};
pub use simt::FAULT_EXIT;
pub use toolchain::{HostCompiler, find_compiler};

use shim::is_shim_path;

/// The folder of the cpu device in a cache.
fn folder(cache_dir: &std::path::Path) -> std::path::PathBuf {
    cache_dir.join("cpu")
}
