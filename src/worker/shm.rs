//! The memory that judge and launcher share: two memory files per case, one for what goes in, one for what comes out.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use memmap2::{MmapMut, MmapOptions};
use rustix::fs::{MemfdFlags, Mode, OFlags, SealFlags};

use crate::device::host_memory;
use crate::model::{Plan, Region, Role, SharedBuffer};

/// Alignment of a buffer's start: the widest vector load of a kernel.
const ALIGN: u64 = 16;
/// Byte that fills whatever was not written: a NaN in every float type.
const POISON: u8 = 0xFF;

/// Why memory for a case cannot be had or used.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// Status `oom`.
    #[error(
        "the case needs {needed} bytes of shared memory, {available} are available; use smaller dims or fewer reps"
    )]
    TooLarge { needed: u64, available: u64 },
    #[error("no buffer {buffer} of set {set} in this case's memory")]
    NoSuchBuffer { set: u32, buffer: u32 },
    #[error("buffer {buffer} holds {expected} bytes, got {got}")]
    WrongSize { buffer: u32, expected: u64, got: u64 },
    #[error("shared memory: {0}")]
    Io(#[from] io::Error),
}

/// Every input, cotangent, output and gradient of every set of one case, laid out as [`SharedBuffer`] says.
#[derive(Debug)]
pub struct CaseMemory {
    inputs: Memory,
    outputs: Memory,
    shared: Vec<SharedBuffer>,
    index: HashMap<(u32, u32), usize>,
    /// Checksums of what was written to inputs, by place in `shared`.
    sums: HashMap<usize, u64>,
}

impl CaseMemory {
    /// Allocates and poisons memory for `sets` sets of the plan's non-scratch buffers.
    pub fn new(plan: &Plan, sets: u32) -> Result<Self, MemoryError> {
        let (shared, sizes) = layout(plan, sets, rustix::param::page_size() as u64);
        let needed = sizes[0].saturating_add(sizes[1]);
        let available = host_memory::available();
        // A tenth is left to the launcher's own needs and to everybody else.
        if needed > available / 10 * 9 {
            return Err(MemoryError::TooLarge { needed, available });
        }
        let index = shared.iter().enumerate().map(|(place, one)| ((one.set, one.buffer), place)).collect();
        let inputs = Memory::new("popcorn-inputs", sizes[0], SealFlags::FUTURE_WRITE)?;
        let outputs = Memory::new("popcorn-outputs", sizes[1], SealFlags::empty())?;
        Ok(Self { inputs, outputs, shared, index, sums: HashMap::new() })
    }

    /// Where everything lies, for a [`crate::model::LaunchRequest`].
    pub fn shared_buffers(&self) -> &[SharedBuffer] {
        &self.shared
    }

    /// Sets an input or cotangent: native-endian elements, row-major.
    pub fn write(&mut self, set: u32, buffer: u32, bytes: &[u8]) -> Result<(), MemoryError> {
        let place = self.place(set, buffer)?;
        let one = &self.shared[place];
        if one.bytes != bytes.len() as u64 {
            return Err(MemoryError::WrongSize { buffer, expected: one.bytes, got: bytes.len() as u64 });
        }
        let range = one.offset as usize..one.offset as usize + bytes.len();
        match one.region {
            Region::Inputs => {
                self.inputs.map[range].copy_from_slice(bytes);
                self.sums.insert(place, checksum(bytes));
            }
            Region::Outputs => self.outputs.map[range].copy_from_slice(bytes),
        }
        Ok(())
    }

    /// What a buffer holds now. Read outputs only after the launcher's end.
    pub fn read(&self, set: u32, buffer: u32) -> Result<&[u8], MemoryError> {
        Ok(self.bytes(&self.shared[self.place(set, buffer)?]))
    }

    /// Overwrites all outputs and gradients, so that nothing stale can be graded.
    pub fn poison_outputs(&mut self) {
        self.outputs.map.fill(POISON);
    }

    /// Whether every input that was written still holds what was written. The launcher has no way to change one; this
    /// is the check of that claim.
    pub fn inputs_unchanged(&self) -> bool {
        self.sums.iter().all(|(place, sum)| checksum(self.bytes(&self.shared[*place])) == *sum)
    }

    /// Bytes of both files.
    pub fn total_bytes(&self) -> u64 {
        (self.inputs.map.len() + self.outputs.map.len()) as u64
    }

    /// The two descriptors for a launcher: inputs read-only, outputs writable.
    pub(super) fn files(&self) -> io::Result<Vec<OwnedFd>> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let path = format!("/proc/self/fd/{}", self.inputs.file.as_raw_fd());
        let inputs = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(vec![inputs, self.outputs.file.try_clone()?.into()])
    }

    fn place(&self, set: u32, buffer: u32) -> Result<usize, MemoryError> {
        self.index.get(&(set, buffer)).copied().ok_or(MemoryError::NoSuchBuffer { set, buffer })
    }

    fn bytes(&self, one: &SharedBuffer) -> &[u8] {
        let map = match one.region {
            Region::Inputs => &self.inputs.map,
            Region::Outputs => &self.outputs.map,
        };
        &map[one.offset as usize..(one.offset + one.bytes) as usize]
    }
}

/// A memory file of fixed size with the judge's writable mapping.
#[derive(Debug)]
struct Memory {
    file: File,
    map: MmapMut,
}

impl Memory {
    /// Nobody can change the file's size (that would make reads fault); `more` adds seals.
    fn new(name: &str, bytes: u64, more: SealFlags) -> io::Result<Self> {
        let file = File::from(rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?);
        let bytes = bytes.max(1);
        file.set_len(bytes)?;
        // SAFETY: the file is new, nameless and about to be sealed against truncation; only the launcher shares it, and
        // the judge reads outputs after that process has ended.
        let mut map = unsafe { MmapOptions::new().len(bytes as usize).map_mut(&file)? };
        rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | more | SealFlags::SEAL)?;
        map.fill(POISON);
        Ok(Self { file, map })
    }
}

/// Places buffers: whole pages each, data at the right end (rounded up to 16) of its pages. Returns the sizes of the
/// input and the output file.
fn layout(plan: &Plan, sets: u32, page: u64) -> (Vec<SharedBuffer>, [u64; 2]) {
    let mut shared = Vec::new();
    let mut sizes = [0u64; 2];
    for set in 0..sets {
        for (index, buffer) in plan.buffers.iter().enumerate() {
            let (region, size) = match buffer.role {
                Role::Scratch => continue,
                Role::Input { .. } | Role::Cotangent { .. } => (Region::Inputs, &mut sizes[0]),
                Role::Output { .. } | Role::Grad { .. } => (Region::Outputs, &mut sizes[1]),
            };
            let bytes = buffer.bytes();
            let padded = bytes.next_multiple_of(ALIGN);
            let end = size.saturating_add(padded.next_multiple_of(page));
            shared.push(SharedBuffer { set, buffer: index as u32, region, offset: end - padded, bytes });
            *size = end;
        }
    }
    (shared, sizes)
}

/// Detects any change of the bytes: four independent multiply-add lanes over 8-byte words, so that it runs at memory
/// speed. Not cryptographic; whoever could forge it could also write the memory.
fn checksum(bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15; // 2^64 / golden ratio
    let mut lanes = [1u64, 2, 3, 4];
    let chunks = bytes.chunks_exact(32);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (lane, word) in lanes.iter_mut().zip(chunk.as_chunks::<8>().0) {
            *lane = (lane.rotate_left(5) ^ u64::from_le_bytes(*word)).wrapping_mul(ODD);
        }
    }
    let tail =
        rest.iter().fold(bytes.len() as u64, |sum, byte| (sum.rotate_left(5) ^ u64::from(*byte)).wrapping_mul(ODD));
    lanes.iter().fold(tail, |sum, lane| (sum.rotate_left(5) ^ lane).wrapping_mul(ODD))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{Buffer, DType};

    fn plan(sizes: &[(u8, u64)]) -> Plan {
        let role = |kind: u8, index: u32| match kind % 5 {
            0 => Role::Input { param: format!("p{index}") },
            1 => Role::Cotangent { index },
            2 => Role::Output { index },
            3 => Role::Grad { param: format!("p{index}") },
            _ => Role::Scratch,
        };
        let buffers = (0u32..).zip(sizes).map(|(index, (kind, bytes))| Buffer {
            name: format!("b{index}"),
            role: role(*kind, index),
            dtype: DType::I8,
            shape: vec![*bytes],
        });
        Plan { compiler: String::new(), modules: vec![], buffers: buffers.collect(), forward: vec![], backward: vec![] }
    }

    proptest! {
        #[test]
        fn buffers_own_their_pages(sizes: Vec<(u8, u16)>, sets in 1u32..4, large in any::<bool>()) {
            let page = if large { 65_536 } else { 4096 };
            let sizes: Vec<_> = sizes.into_iter().map(|(kind, bytes)| (kind, u64::from(bytes))).collect();
            let plan = plan(&sizes);
            let (shared, totals) = layout(&plan, sets, page);
            let wanted = plan.buffers.iter().filter(|buffer| buffer.role != Role::Scratch).count();
            prop_assert_eq!(shared.len(), wanted * sets as usize);
            let mut pages = std::collections::HashSet::new();
            for one in &shared {
                let end = one.offset + one.bytes.next_multiple_of(16);
                prop_assert_eq!(one.offset % 16, 0);
                prop_assert_eq!(end % page, 0);
                prop_assert!(end <= totals[usize::from(one.region == Region::Outputs)]);
                prop_assert_eq!(one.bytes, plan.buffers[one.buffer as usize].bytes());
                for number in one.offset / page..end / page {
                    prop_assert!(pages.insert((one.region == Region::Inputs, number)));
                }
            }
        }

        #[test]
        fn any_flipped_bit_changes_the_checksum(mut bytes in proptest::collection::vec(any::<u8>(), 1..200), at: prop::sample::Index, bit in 0..8) {
            let before = checksum(&bytes);
            let at = at.index(bytes.len());
            bytes[at] ^= 1u8 << bit;
            prop_assert_ne!(before, checksum(&bytes));
        }
    }

    #[test]
    fn round_trip_poison_and_errors() {
        let plan = plan(&[(0, 5), (2, 4096), (3, 0), (4, 100)]);
        let mut memory = CaseMemory::new(&plan, 2).unwrap();
        memory.write(1, 0, b"hello").unwrap();
        assert_eq!(memory.read(1, 0).unwrap(), b"hello");
        assert_eq!(memory.read(0, 0).unwrap(), [POISON; 5]);
        assert_eq!(memory.read(0, 1).unwrap(), [POISON; 4096]);
        assert_eq!(memory.read(1, 2).unwrap(), b"");
        assert!(memory.inputs_unchanged());
        memory.write(0, 1, &[7; 4096]).unwrap();
        memory.poison_outputs();
        assert_eq!(memory.read(0, 1).unwrap(), [POISON; 4096]);
        assert!(matches!(memory.write(0, 0, b"four"), Err(MemoryError::WrongSize { expected: 5, got: 4, .. })));
        assert!(matches!(memory.read(0, 3), Err(MemoryError::NoSuchBuffer { .. })));
        assert!(matches!(memory.read(2, 0), Err(MemoryError::NoSuchBuffer { .. })));
    }

    #[test]
    fn a_changed_input_is_noticed() {
        let mut memory = CaseMemory::new(&plan(&[(0, 100)]), 1).unwrap();
        memory.write(0, 0, &[1; 100]).unwrap();
        let offset = memory.shared[0].offset as usize;
        memory.inputs.map[offset + 99] = 2;
        assert!(!memory.inputs_unchanged());
    }

    #[test]
    fn the_launchers_view_of_inputs_cannot_be_written() {
        let memory = CaseMemory::new(&plan(&[(0, 100), (2, 100)]), 1).unwrap();
        let files = memory.files().unwrap();
        assert!(rustix::io::write(&files[0], b"x").is_err());
        // Not even by opening it once more, nor by shrinking what the judge reads.
        let again =
            rustix::fs::open(format!("/proc/self/fd/{}", files[0].as_raw_fd()), OFlags::RDWR, Mode::empty()).unwrap();
        assert!(rustix::io::write(&again, b"x").is_err());
        // SAFETY: the mapping is dropped unread.
        assert!(unsafe { MmapOptions::new().len(100).map_mut(&again) }.is_err());
        assert!(rustix::fs::ftruncate(&files[1], 0).is_err());
        assert!(rustix::io::write(&files[1], b"x").is_ok());
    }

    #[test]
    fn too_much_memory_is_a_clean_error() {
        for bytes in [40 << 40, u64::MAX / 4] {
            let error = CaseMemory::new(&plan(&[(0, bytes), (2, bytes)]), 1).unwrap_err();
            assert!(matches!(error, MemoryError::TooLarge { .. }), "{error}");
        }
    }
}
