//! What every device checks before it launches: limits, arguments against the kernel's parameters, ranges in buffers.

use std::ffi::c_void;

use super::{Access, BoundArg, BufferId, DeviceError, DeviceErrorKind};
use crate::model::{DType, KernelInfo, ParamKind, ScalarValue};

/// Launch limits of CUDA: <https://docs.nvidia.com/cuda/cuda-c-programming-guide/#compute-capabilities>.
const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
const MAX_THREADS: u64 = 1024;
const MAX_GRID: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];

/// A buffer as launches see it.
pub(in crate::device) struct Place<'a> {
    pub(in crate::device) name: &'a str,
    /// Address of the first byte.
    pub(in crate::device) start: u64,
    pub(in crate::device) bytes: u64,
    pub(in crate::device) access: Access,
}

/// Where a device's buffers lie.
pub(in crate::device) trait Buffers {
    fn place(&self, id: BufferId) -> Result<Place<'_>, DeviceError>;

    /// The address of a range inside a buffer that may be written if `write`.
    fn range(&self, (id, offset): (BufferId, u64), bytes: u64, write: bool) -> Result<u64, DeviceError> {
        let place = self.place(id)?;
        if write && place.access == Access::Read {
            return Err(launch_error(format!("buffer '{}' is read-only", place.name)));
        }
        if offset.checked_add(bytes).is_none_or(|end| end > place.bytes) {
            return Err(launch_error(format!(
                "{bytes} bytes at offset {offset} do not fit buffer '{}' of {} bytes",
                place.name, place.bytes
            )));
        }
        Ok(place.start.wrapping_add(offset))
    }
}

pub(in crate::device) fn launch_error(message: String) -> DeviceError {
    DeviceError { kind: DeviceErrorKind::Launch, message }
}

/// Argument values, 16 bytes each, and pointers to them. Boxed slices: their addresses are fixed.
pub(in crate::device) struct Arguments {
    _values: Box<[[u64; 2]]>,
    pub(in crate::device) pointers: Box<[*mut c_void]>,
}

/// Checks a launch's extents; `max_shared` is the device's limit on dynamic shared memory of one block, bytes.
pub(in crate::device) fn check_limits(
    name: &str,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    max_shared: u32,
) -> Result<(), DeviceError> {
    let refuse = |what: String| Err(launch_error(format!("kernel '{name}': {what}")));
    for (axis, i) in ["x", "y", "z"].into_iter().zip(0..3) {
        if grid[i] == 0 || grid[i] > MAX_GRID[i] {
            return refuse(format!("grid.{axis} is {}; the limits are 1 to {}", grid[i], MAX_GRID[i]));
        }
        if block[i] == 0 || block[i] > MAX_BLOCK[i] {
            return refuse(format!("block.{axis} is {}; the limits are 1 to {}", block[i], MAX_BLOCK[i]));
        }
    }
    let threads: u64 = block.iter().map(|extent| u64::from(*extent)).product();
    if threads > MAX_THREADS {
        return refuse(format!("a block of {threads} threads is over the limit of {MAX_THREADS}"));
    }
    if shared_bytes > max_shared {
        return refuse(format!("{shared_bytes} bytes of dynamic shared memory are over the limit of {max_shared}"));
    }
    Ok(())
}

/// Argument storage for one launch; counts and sizes must be the kernel's own.
pub(in crate::device) fn bind(
    buffers: &impl Buffers,
    info: &KernelInfo,
    args: &[BoundArg],
) -> Result<Arguments, DeviceError> {
    if args.len() != info.params.len() {
        return Err(launch_error(format!(
            "kernel '{}' takes {} arguments, {} were given",
            info.name,
            info.params.len(),
            args.len()
        )));
    }
    let mut values = vec![[0u64; 2]; args.len()].into_boxed_slice();
    for (index, (arg, param)) in args.iter().zip(&info.params).enumerate() {
        let is_pointer = matches!(param.kind, ParamKind::Pointer { .. });
        let refuse = |what: String| Err(launch_error(format!("kernel '{}': argument {} {what}", info.name, index + 1)));
        values[index][0] = match arg {
            BoundArg::Buffer(id, offset) if is_pointer => {
                let place = buffers.place(*id)?;
                if *offset > place.bytes {
                    return refuse(format!(
                        "starts at byte {offset} of buffer '{}', which has {}",
                        place.name, place.bytes
                    ));
                }
                place.start.wrapping_add(*offset)
            }
            BoundArg::Buffer(..) => return refuse("is a buffer, the parameter is not".to_owned()),
            BoundArg::Null if is_pointer => 0,
            BoundArg::Null => return refuse("is null, the parameter is not".to_owned()),
            BoundArg::Scalar(_) if is_pointer => return refuse("is a scalar, the parameter is not".to_owned()),
            BoundArg::Scalar(value) => {
                let (bits, size) = scalar_bits(*value);
                if size != param.size {
                    return refuse(format!("has {size} bytes, the parameter {}", param.size));
                }
                bits
            }
        };
    }
    let pointers = values.iter_mut().map(|value| std::ptr::from_mut(value).cast()).collect();
    Ok(Arguments { _values: values, pointers })
}

/// Bytes of a stack of `batch` matrices.
pub(in crate::device) fn matrix_bytes(dtype: DType, rows: u64, columns: u64, batch: u64) -> Result<u64, DeviceError> {
    if !dtype.is_float() {
        return Err(launch_error(format!("matmul: dtype {dtype} is not a float type")));
    }
    [rows, columns, batch, dtype.size() as u64]
        .into_iter()
        .try_fold(1u64, u64::checked_mul)
        .ok_or_else(|| launch_error("matmul: size overflows".to_owned()))
}

/// The bit pattern and size in bytes of a scalar.
pub(in crate::device) fn scalar_bits(value: ScalarValue) -> (u64, u32) {
    match value {
        ScalarValue::Bool(v) => (u64::from(v), 1),
        ScalarValue::I8(v) => (u64::from(v as u8), 1),
        ScalarValue::U8(v) => (u64::from(v), 1),
        ScalarValue::I16(v) => (u64::from(v as u16), 2),
        ScalarValue::U16(v) | ScalarValue::F16Bits(v) | ScalarValue::BF16Bits(v) => (u64::from(v), 2),
        ScalarValue::I32(v) => (u64::from(v as u32), 4),
        ScalarValue::U32(v) | ScalarValue::F32Bits(v) => (u64::from(v), 4),
        ScalarValue::I64(v) => (v as u64, 8),
        ScalarValue::U64(v) | ScalarValue::F64Bits(v) => (v, 8),
    }
}
