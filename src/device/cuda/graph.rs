//! Recorded nodes: every address and argument resolved and checked, ready to go on a stream.

use std::ffi::c_uint;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUdeviceptr, CUfunction, CUstream};

use super::cublas::{Cublas, Product};
use super::device::CudaDevice;
use super::error::device_error;
use crate::device::arguments::{Arguments, Buffers, bind, check_limits, launch_error, matrix_bytes, scalar_bits};
use crate::device::{BoundNode, BufferId, DeviceError, DeviceErrorKind};
use crate::model::ScalarValue;

pub(super) enum Command {
    Launch(Launch),
    Fill(Fill),
    Copy { src: CUdeviceptr, dst: CUdeviceptr, bytes: usize },
    Matmul(Product),
}

pub(super) struct Launch {
    name: String,
    function: CUfunction,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    args: Arguments,
}

/// `elements` of `size` bytes, all of the same `bits`.
pub(super) struct Fill {
    start: CUdeviceptr,
    elements: usize,
    bits: u64,
    size: u32,
}

impl Fill {
    fn enqueue(&self, stream: CUstream) -> Result<(), DriverError> {
        if self.elements == 0 {
            return Ok(());
        }
        let (start, count, bits) = (self.start, self.elements, self.bits);
        // SAFETY: the range lies in one buffer, as checked when it was recorded.
        unsafe {
            match self.size {
                1 => sys::cuMemsetD8Async(start, bits as u8, count, stream).result(),
                2 => sys::cuMemsetD16Async(start, bits as u16, count, stream).result(),
                4 => sys::cuMemsetD32Async(start, bits as u32, count, stream).result(),
                _ if bits as u32 == (bits >> 32) as u32 => {
                    sys::cuMemsetD32Async(start, bits as u32, 2 * count, stream).result()
                }
                // The two halves, each with a stride of one element.
                _ => {
                    sys::cuMemsetD2D32Async(start, 8, bits as u32, 1, count, stream).result()?;
                    sys::cuMemsetD2D32Async(start + 4, 8, (bits >> 32) as c_uint, 1, count, stream).result()
                }
            }
        }
    }
}

impl Command {
    /// Puts the command on a stream, which may be capturing.
    pub(super) fn enqueue(&self, stream: CUstream, cublas: Option<&Cublas>) -> Result<(), DeviceError> {
        let done = match self {
            Self::Launch(launch) => {
                let [x, y, z] = launch.grid;
                let [bx, by, bz] = launch.block;
                let args = launch.args.pointers.as_ptr().cast_mut();
                // SAFETY: count and sizes of the arguments are the kernel's own; the driver copies them.
                unsafe {
                    sys::cuLaunchKernel(
                        launch.function,
                        x,
                        y,
                        z,
                        bx,
                        by,
                        bz,
                        launch.shared_bytes,
                        stream,
                        args,
                        std::ptr::null_mut(),
                    )
                    .result()
                }
            }
            Self::Fill(fill) => fill.enqueue(stream),
            Self::Copy { bytes: 0, .. } => Ok(()),
            // SAFETY: both ranges lie in buffers, as checked when recorded.
            Self::Copy { src, dst, bytes } => unsafe { result::memcpy_dtod_async(*dst, *src, *bytes, stream) },
            Self::Matmul(product) => {
                let cublas = cublas.ok_or_else(|| DeviceError {
                    kind: DeviceErrorKind::Environment,
                    message: "matmul without cuBLAS".to_owned(),
                })?;
                return cublas.enqueue(product);
            }
        };
        done.map_err(|error| device_error(&self.name(), error))
    }

    /// For messages.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Launch(launch) => format!("kernel '{}'", launch.name),
            Self::Fill(_) => "a fill".to_owned(),
            Self::Copy { .. } => "a copy".to_owned(),
            Self::Matmul(_) => "a matrix product".to_owned(),
        }
    }
}

/// Checks nodes and resolves what they name.
pub(super) fn record(device: &CudaDevice, nodes: &[BoundNode]) -> Result<Vec<Command>, DeviceError> {
    nodes.iter().map(|node| command(device, node)).collect()
}

fn command(device: &CudaDevice, node: &BoundNode) -> Result<Command, DeviceError> {
    Ok(match node {
        BoundNode::Launch { module, kernel, grid, block, shared_bytes, args } => {
            let loaded = device.module(*module)?;
            let (Some(found), Some(info)) =
                (loaded.kernels.get(*kernel as usize), loaded.description.kernels.get(*kernel as usize))
            else {
                return Err(launch_error(format!("{}: no kernel {kernel}", loaded.description.source.display())));
            };
            let most = found.max_dynamic(device.gpu().shared_memory_per_block);
            check_limits(&info.name, *grid, *block, *shared_bytes, most)?;
            let threads: u32 = block.iter().product();
            if threads > found.max_threads {
                return Err(launch_error(format!(
                    "kernel '{}': a block of {threads} threads is over the {} that its registers allow; use smaller \
                     blocks or __launch_bounds__({threads})",
                    info.name, found.max_threads
                )));
            }
            found.allow_shared(*shared_bytes).map_err(|error| device_error(&info.name, error))?;
            Command::Launch(Launch {
                name: info.name.clone(),
                function: found.function,
                grid: *grid,
                block: *block,
                shared_bytes: *shared_bytes,
                args: bind(device, info, args)?,
            })
        }
        BoundNode::Fill { buffer, value } => Command::Fill(fill(device, *buffer, *value)?),
        BoundNode::Copy { src, dst, bytes } => Command::Copy {
            src: device.range(*src, *bytes, false)?,
            dst: device.range(*dst, *bytes, true)?,
            bytes: *bytes as usize,
        },
        BoundNode::Matmul { a, b, out, dtype, m, n, k, batch, trans_a, trans_b } => {
            let size = |rows, columns| matrix_bytes(*dtype, rows, columns, *batch);
            Command::Matmul(Product {
                a: device.range(*a, size(*m, *k)?, false)?,
                b: device.range(*b, size(*k, *n)?, false)?,
                out: device.range(*out, size(*m, *n)?, true)?,
                dtype: *dtype,
                m: *m,
                n: *n,
                k: *k,
                batch: *batch,
                trans_a: *trans_a,
                trans_b: *trans_b,
            })
        }
    })
}

fn fill(device: &CudaDevice, buffer: BufferId, value: ScalarValue) -> Result<Fill, DeviceError> {
    let (bits, size) = scalar_bits(value);
    let bytes = device.place(buffer)?.bytes;
    let start = device.range((buffer, 0), bytes, true)?;
    Ok(Fill { start, elements: bytes as usize / size as usize, bits, size })
}
