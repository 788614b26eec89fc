//! NVIDIA GPUs: NVRTC compiles the same `.cu` files to cubins, the driver runs them.
//!
//! Every library is opened at run time, so one program serves machines with and without a GPU. The driver comes
//! through `cudarc`; NVRTC is opened by path, because wheels install it outside of the loader's search path.

mod compile;
mod cublas;
mod device;
mod driver;
mod error;
mod graph;
mod includes;
mod log;
mod memory;
mod module;
mod nvrtc;
mod probes;
mod toolkit;
mod visit;
mod wrapper;

pub use compile::CudaCompiler;
pub use device::CudaDevice;
pub use driver::{Context, Gpu, count, gpu};

#[cfg(test)]
mod tests;
