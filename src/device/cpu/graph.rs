//! Recorded steps: every address and argument resolved and checked, so that a replay only runs them.

use std::ffi::c_void;

use super::device::{CpuDevice, launch_error};
use super::matmul::Product;
use super::simt::{Launch, threads_of};
use super::wrapper::MAX_DYNAMIC_SHARED;
use crate::device::{Access, BoundArg, BoundNode, BufferId, DeviceError};
use crate::model::{KernelInfo, ParamKind, ScalarValue};

/// Launch limits of CUDA: <https://docs.nvidia.com/cuda/cuda-c-programming-guide/#compute-capabilities>.
const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
const MAX_THREADS: u64 = 1024;
const MAX_GRID: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];

/// Recorded steps and the argument storage that their launches point into.
pub(super) struct Graph {
    pub(super) steps: Vec<Step>,
    _args: Vec<Arguments>,
}

pub(super) enum Step {
    Launch(Launch),
    Fill(Fill),
    Copy { src: *const u8, dst: *mut u8, bytes: usize },
    Matmul(Product),
}

/// Argument values, 16 bytes each, and pointers to them. Boxed slices: their addresses are fixed.
struct Arguments {
    _values: Box<[[u64; 2]]>,
    pointers: Box<[*mut c_void]>,
}

/// A buffer and the element that fills it.
pub(super) struct Fill {
    start: *mut u8,
    elements: usize,
    element: Element,
}

enum Element {
    One(u8),
    Two(u16),
    Four(u32),
    Eight(u64),
}

impl Fill {
    /// # Safety
    /// The buffer is mapped and writable.
    pub(super) unsafe fn run(&self) {
        // SAFETY: `elements` of the element's size fit the buffer, whose start is aligned to 16.
        unsafe {
            match self.element {
                Element::One(v) => self.start.write_bytes(v, self.elements),
                Element::Two(v) => std::slice::from_raw_parts_mut(self.start.cast::<u16>(), self.elements).fill(v),
                Element::Four(v) => std::slice::from_raw_parts_mut(self.start.cast::<u32>(), self.elements).fill(v),
                Element::Eight(v) => std::slice::from_raw_parts_mut(self.start.cast::<u64>(), self.elements).fill(v),
            }
        }
    }
}

impl Graph {
    pub(super) fn record(device: &CpuDevice, nodes: &[BoundNode]) -> Result<Self, DeviceError> {
        let mut graph = Self { steps: Vec::with_capacity(nodes.len()), _args: Vec::new() };
        for node in nodes {
            let step = match node {
                BoundNode::Launch { module, kernel, grid, block, shared_bytes, args } => {
                    let loaded = device.module(*module)?;
                    let (Some(entry), Some(info)) =
                        (loaded.entry(*kernel), loaded.description.kernels.get(*kernel as usize))
                    else {
                        return Err(launch_error(format!(
                            "{}: no kernel {kernel}",
                            loaded.description.source.display()
                        )));
                    };
                    check_limits(&info.name, *grid, *block, *shared_bytes)?;
                    let mut arguments = bind(device, info, args)?;
                    let launch = Launch {
                        module: loaded.module,
                        entry,
                        grid: *grid,
                        block: *block,
                        shared_bytes: *shared_bytes,
                        args: arguments.pointers.as_mut_ptr(),
                    };
                    graph._args.push(arguments);
                    Step::Launch(launch)
                }
                BoundNode::Fill { buffer, value } => Step::Fill(fill(device, *buffer, *value)?),
                BoundNode::Copy { src, dst, bytes } => {
                    let (from, to) = (range(device, *src, *bytes, false)?, range(device, *dst, *bytes, true)?);
                    Step::Copy { src: from.cast_const(), dst: to, bytes: *bytes as usize }
                }
                BoundNode::Matmul { a, b, out, dtype, m, n, k, batch, trans_a, trans_b } => {
                    let size = |rows: u64, columns: u64| {
                        [rows, columns, *batch, dtype.size() as u64]
                            .into_iter()
                            .try_fold(1u64, u64::checked_mul)
                            .ok_or_else(|| launch_error("matmul: size overflows".to_owned()))
                    };
                    if !dtype.is_float() {
                        return Err(launch_error(format!("matmul: dtype {dtype} is not a float type")));
                    }
                    Step::Matmul(Product {
                        a: range(device, *a, size(*m, *k)?, false)?.cast_const(),
                        b: range(device, *b, size(*k, *n)?, false)?.cast_const(),
                        out: range(device, *out, size(*m, *n)?, true)?,
                        dtype: *dtype,
                        m: *m as usize,
                        n: *n as usize,
                        k: *k as usize,
                        batch: *batch as usize,
                        trans_a: *trans_a,
                        trans_b: *trans_b,
                    })
                }
            };
            graph.steps.push(step);
        }
        Ok(graph)
    }
}

fn check_limits(name: &str, grid: [u32; 3], block: [u32; 3], shared_bytes: u32) -> Result<(), DeviceError> {
    let refuse = |what: String| Err(launch_error(format!("kernel '{name}': {what}")));
    for (axis, i) in ["x", "y", "z"].into_iter().zip(0..3) {
        if grid[i] == 0 || grid[i] > MAX_GRID[i] {
            return refuse(format!("grid.{axis} is {}; the limits are 1 to {}", grid[i], MAX_GRID[i]));
        }
        if block[i] == 0 || block[i] > MAX_BLOCK[i] {
            return refuse(format!("block.{axis} is {}; the limits are 1 to {}", block[i], MAX_BLOCK[i]));
        }
    }
    if threads_of(block) > MAX_THREADS {
        return refuse(format!("a block of {} threads is over the limit of {MAX_THREADS}", threads_of(block)));
    }
    if shared_bytes > MAX_DYNAMIC_SHARED {
        return refuse(format!(
            "{shared_bytes} bytes of dynamic shared memory are over the limit of {MAX_DYNAMIC_SHARED}"
        ));
    }
    Ok(())
}

/// Argument storage for one launch; counts and sizes must be the kernel's own.
fn bind(device: &CpuDevice, info: &KernelInfo, args: &[BoundArg]) -> Result<Arguments, DeviceError> {
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
        let mismatch = |what: &str| {
            launch_error(format!("kernel '{}': argument {} is {what}, the parameter is not", info.name, index + 1))
        };
        values[index][0] = match arg {
            BoundArg::Buffer(id, offset) => {
                if !is_pointer {
                    return Err(mismatch("a buffer"));
                }
                let memory = device.buffer(*id)?;
                if *offset > memory.bytes as u64 {
                    return Err(launch_error(format!(
                        "kernel '{}': argument {} starts at byte {offset} of buffer '{}', which has {}",
                        info.name,
                        index + 1,
                        memory.name,
                        memory.bytes
                    )));
                }
                memory.start().wrapping_add(*offset as usize) as u64
            }
            BoundArg::Null if is_pointer => 0,
            BoundArg::Null => return Err(mismatch("null")),
            BoundArg::Scalar(_) if is_pointer => return Err(mismatch("a scalar")),
            BoundArg::Scalar(value) => {
                let (bits, size) = scalar_bits(*value);
                if size != param.size {
                    return Err(launch_error(format!(
                        "kernel '{}': argument {} has {size} bytes, the parameter {}",
                        info.name,
                        index + 1,
                        param.size
                    )));
                }
                bits
            }
        };
    }
    let pointers = values.iter_mut().map(|value| std::ptr::from_mut(value).cast()).collect();
    Ok(Arguments { _values: values, pointers })
}

fn fill(device: &CpuDevice, buffer: BufferId, value: ScalarValue) -> Result<Fill, DeviceError> {
    let (bits, size) = scalar_bits(value);
    let bytes = device.buffer(buffer)?.bytes as u64;
    let start = range(device, (buffer, 0), bytes, true)?;
    let element = match size {
        1 => Element::One(bits as u8),
        2 => Element::Two(bits as u16),
        4 => Element::Four(bits as u32),
        _ => Element::Eight(bits),
    };
    Ok(Fill { start, elements: bytes as usize / size as usize, element })
}

/// The address of a range inside a buffer that may be written if `write`.
fn range(device: &CpuDevice, (id, offset): (BufferId, u64), bytes: u64, write: bool) -> Result<*mut u8, DeviceError> {
    let memory = device.buffer(id)?;
    if write && memory.access == Access::Read {
        return Err(launch_error(format!("buffer '{}' is read-only", memory.name)));
    }
    if offset.checked_add(bytes).is_none_or(|end| end > memory.bytes as u64) {
        return Err(launch_error(format!(
            "{bytes} bytes at offset {offset} do not fit buffer '{}' of {} bytes",
            memory.name, memory.bytes
        )));
    }
    Ok(memory.start().wrapping_add(offset as usize))
}

/// The bit pattern and size in bytes of a scalar.
fn scalar_bits(value: ScalarValue) -> (u64, u32) {
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
