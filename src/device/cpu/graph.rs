//! Recorded steps: every address and argument resolved and checked, so that a replay only runs them.

use super::device::CpuDevice;
use super::matmul::Product;
use super::simt::Launch;
use super::wrapper::MAX_DYNAMIC_SHARED;
use crate::device::arguments::{Arguments, Buffers, bind, check_limits, launch_error, matrix_bytes, scalar_bits};
use crate::device::{BoundNode, BufferId, DeviceError};
use crate::model::ScalarValue;

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
                    check_limits(&info.name, *grid, *block, *shared_bytes, MAX_DYNAMIC_SHARED)?;
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
                    let (src, dst) = (device.range(*src, *bytes, false)?, device.range(*dst, *bytes, true)?);
                    Step::Copy { src: src as *const u8, dst: dst as *mut u8, bytes: *bytes as usize }
                }
                BoundNode::Matmul { a, b, out, dtype, m, n, k, batch, trans_a, trans_b } => {
                    let size = |rows, columns| matrix_bytes(*dtype, rows, columns, *batch);
                    Step::Matmul(Product {
                        a: device.range(*a, size(*m, *k)?, false)? as *const u8,
                        b: device.range(*b, size(*k, *n)?, false)? as *const u8,
                        out: device.range(*out, size(*m, *n)?, true)? as *mut u8,
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

fn fill(device: &CpuDevice, buffer: BufferId, value: ScalarValue) -> Result<Fill, DeviceError> {
    let (bits, size) = scalar_bits(value);
    let bytes = device.place(buffer)?.bytes;
    let start = device.range((buffer, 0), bytes, true)? as *mut u8;
    let element = match size {
        1 => Element::One(bits as u8),
        2 => Element::Two(bits as u16),
        4 => Element::Four(bits as u32),
        _ => Element::Eight(bits),
    };
    Ok(Fill { start, elements: bytes as usize / size as usize, element })
}
