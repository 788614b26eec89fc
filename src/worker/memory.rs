//! Memory that the judge owns and a launcher maps: one file of inputs, one of outputs.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use memmap2::{MmapMut, MmapOptions};
use sha2::{Digest, Sha256};

use crate::model::{Buffer, Plan, Region, Role, SharedBuffer};

/// The unit in which access can be denied, bytes. Buffers never share one.
const PAGE: u64 = 4096;
/// Buffers end on a multiple of this from a page end, and kernels may load vectors of this size, bytes.
const ALIGN: u64 = 16;
/// What every byte is before somebody writes it: NaN in every float type.
const POISON: u8 = 0xff;

/// Why there is no memory for a case.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    #[error("the case's buffers need {needed} bytes of memory, {available} are available")]
    Oom { needed: u64, available: u64 },
    #[error("cannot make shared memory: {0}")]
    Io(#[from] io::Error),
}

/// Input and output buffers of every draw of one case.
pub struct CaseMemory {
    inputs: Section,
    outputs: Section,
    buffers: Vec<SharedBuffer>,
    /// Digest of the inputs after [`Self::seal`].
    sealed: Option<[u8; 32]>,
}

struct Section {
    file: File,
    map: MmapMut,
}

impl Section {
    fn new(name: &str, bytes: u64) -> io::Result<Self> {
        let file = File::from(rustix::fs::memfd_create(name, rustix::fs::MemfdFlags::CLOEXEC)?);
        file.set_len(bytes.max(PAGE))?;
        // SAFETY: the file is ours alone until it is passed to a launcher; a launcher that writes while we read can
        // only change plain bytes, which are graded, never trusted.
        let mut map = unsafe { MmapOptions::new().map_mut(&file)? };
        map.fill(POISON);
        Ok(Self { file, map })
    }
}

fn up(value: u64, unit: u64) -> Option<u64> {
    value.checked_next_multiple_of(unit)
}

impl CaseMemory {
    /// Poisoned memory for every buffer of `plan` that is not scratch, `draws` times.
    pub fn new(plan: &Plan, draws: u32) -> Result<Self, MemoryError> {
        let (buffers, sizes) = layout(plan, draws).ok_or(MemoryError::Oom { needed: u64::MAX, available: available() })?;
        let needed = sizes[0].saturating_add(sizes[1]);
        let available = available();
        if needed > available {
            return Err(MemoryError::Oom { needed, available });
        }
        Ok(Self {
            inputs: Section::new("popcorn-inputs", sizes[0])?,
            outputs: Section::new("popcorn-outputs", sizes[1])?,
            buffers,
            sealed: None,
        })
    }

    /// Where everything lies, for the launch request.
    pub fn shared_buffers(&self) -> &[SharedBuffer] {
        &self.buffers
    }

    fn find(&self, draw: u32, buffer: u32) -> Option<&SharedBuffer> {
        self.buffers.iter().find(|shared| shared.draw == draw && shared.buffer == buffer)
    }

    /// Fills a buffer. `buffer` indexes [`Plan::buffers`]; `bytes` has the buffer's size.
    ///
    /// # Panics
    /// If there is no such buffer or the sizes differ: the judge's own mistake.
    pub fn write(&mut self, draw: u32, buffer: u32, bytes: &[u8]) {
        let shared = self.find(draw, buffer).expect("the plan has this buffer").clone();
        let section = match shared.region {
            Region::Inputs => &mut self.inputs,
            Region::Outputs => &mut self.outputs,
        };
        section.map[range(&shared)].copy_from_slice(bytes);
    }

    /// The bytes of a buffer as they are now.
    ///
    /// # Panics
    /// If there is no such buffer: the judge's own mistake.
    pub fn read(&self, draw: u32, buffer: u32) -> &[u8] {
        let shared = self.find(draw, buffer).expect("the plan has this buffer");
        let section = match shared.region {
            Region::Inputs => &self.inputs,
            Region::Outputs => &self.outputs,
        };
        &section.map[range(shared)]
    }

    /// Remembers the inputs as they are, for [`Self::inputs_unchanged`].
    pub fn seal(&mut self) {
        self.sealed = Some(Sha256::digest(&self.inputs.map).into());
    }

    /// Whether the inputs are still as they were when sealed.
    pub fn inputs_unchanged(&self) -> bool {
        self.sealed.is_some_and(|sealed| sealed == <[u8; 32]>::from(Sha256::digest(&self.inputs.map)))
    }

    /// Both files as a launcher gets them: the inputs are opened read-only, so that no mapping of them can be written.
    pub(super) fn files(&self) -> io::Result<[OwnedFd; 2]> {
        let path = format!("/proc/self/fd/{}", self.inputs.file.as_raw_fd());
        let inputs = OpenOptions::new().read(true).open(path)?;
        Ok([inputs.into(), self.outputs.file.try_clone()?.into()])
    }
}

fn range(shared: &SharedBuffer) -> std::ops::Range<usize> {
    shared.offset as usize..(shared.offset + shared.bytes) as usize
}

/// Whole pages for each buffer, the data at their end. None when the sizes overflow.
fn layout(plan: &Plan, draws: u32) -> Option<(Vec<SharedBuffer>, [u64; 2])> {
    let mut buffers = Vec::new();
    let mut sizes = [0u64; 2];
    for draw in 0..draws {
        for (index, buffer) in plan.buffers.iter().enumerate() {
            let (region, size) = match buffer.role {
                Role::Input { .. } | Role::Cotangent { .. } => (Region::Inputs, &mut sizes[0]),
                Role::Output { .. } | Role::Grad { .. } => (Region::Outputs, &mut sizes[1]),
                Role::Scratch => continue,
            };
            let bytes = checked_bytes(buffer)?;
            let end = size.checked_add(up(bytes.max(1), PAGE)?)?;
            let offset = end - up(bytes, ALIGN)?;
            buffers.push(SharedBuffer { draw, buffer: index as u32, region, offset, bytes });
            *size = end;
        }
    }
    Some((buffers, sizes))
}

fn checked_bytes(buffer: &Buffer) -> Option<u64> {
    let elements = buffer.shape.iter().try_fold(1u64, |product, &extent| product.checked_mul(extent))?;
    elements.checked_mul(buffer.dtype.size() as u64)
}

/// Bytes that can be used without swapping, as the kernel estimates it. Unknown means no limit of ours.
fn available() -> u64 {
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kib.map_or(u64::MAX, |kib| kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::DType;
    use proptest::prelude::*;

    fn plan(shapes: &[Vec<u64>]) -> Plan {
        let roles = [
            Role::Input { param: "x".into() },
            Role::Output { index: 0 },
            Role::Scratch,
            Role::Cotangent { index: 0 },
            Role::Grad { param: "x".into() },
        ];
        let buffers = shapes
            .iter()
            .zip(roles.iter().cycle())
            .map(|(shape, role)| Buffer { name: "b".into(), role: role.clone(), dtype: DType::BF16, shape: shape.clone() })
            .collect();
        Plan { modules: Vec::new(), buffers, forward: Vec::new(), backward: Vec::new() }
    }

    #[test]
    fn writes_are_read_back_and_the_rest_is_poison() {
        let mut memory = CaseMemory::new(&plan(&[vec![3], vec![0], vec![9], vec![2, 2]]), 2).unwrap();
        memory.write(1, 0, &[1, 2, 3, 4, 5, 6]);
        assert_eq!(memory.read(1, 0), [1, 2, 3, 4, 5, 6]);
        assert_eq!(memory.read(0, 0), [0xff; 6]);
        assert!(memory.read(0, 1).is_empty());
        assert_eq!(memory.shared_buffers().len(), 6, "scratch is not shared");
    }

    #[test]
    fn a_changed_input_is_noticed() {
        let mut memory = CaseMemory::new(&plan(&[vec![3], vec![3]]), 1).unwrap();
        assert!(!memory.inputs_unchanged(), "nothing is sealed yet");
        memory.seal();
        memory.write(0, 1, &[0; 6]);
        assert!(memory.inputs_unchanged());
        memory.write(0, 0, &[0; 6]);
        assert!(!memory.inputs_unchanged());
    }

    #[test]
    fn the_launchers_inputs_cannot_be_written() {
        let memory = CaseMemory::new(&plan(&[vec![3], vec![3]]), 1).unwrap();
        let [inputs, outputs] = memory.files().unwrap().map(File::from);
        // SAFETY: the mappings are dropped at once.
        unsafe {
            assert!(MmapOptions::new().map_mut(&inputs).is_err());
            assert!(MmapOptions::new().map_mut(&outputs).is_ok());
        }
    }

    #[test]
    fn more_than_there_is_is_refused_with_figures() {
        for shape in [vec![1 << 50], vec![u64::MAX, 2], vec![1 << 40, 1 << 40]] {
            let error = CaseMemory::new(&plan(&[shape]), 1).err().expect("too large");
            assert!(matches!(error, MemoryError::Oom { .. }), "{error}");
        }
    }

    proptest! {
        #[test]
        fn buffers_are_apart_aligned_and_end_at_a_page(shapes in proptest::collection::vec(proptest::collection::vec(0u64..70, 0..3), 1..8), draws in 1u32..4) {
            let (buffers, sizes) = layout(&plan(&shapes), draws).unwrap();
            for (i, one) in buffers.iter().enumerate() {
                prop_assert_eq!(one.offset % ALIGN, 0);
                prop_assert_eq!(up(one.offset + one.bytes, ALIGN).unwrap() % PAGE, 0);
                prop_assert!(one.offset + one.bytes <= sizes[usize::from(one.region == Region::Outputs)]);
                for other in &buffers[i + 1..] {
                    let pages = |b: &SharedBuffer| (b.offset.min(b.offset + b.bytes - b.bytes.min(1)) / PAGE, (b.offset + b.bytes.max(1) - 1) / PAGE);
                    let ((a, b), (c, d)) = (pages(one), pages(other));
                    prop_assert!(one.region != other.region || one.bytes == 0 || other.bytes == 0 || b < c || d < a);
                }
            }
        }
    }
}
