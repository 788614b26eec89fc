//! Device memory of a launcher: its own, the judge's through IPC, or a copy of the judge's memory file.

use std::collections::HashMap;
use std::os::fd::{AsRawFd, BorrowedFd};

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUdeviceptr, CUipcMem_flags_enum};
use memmap2::{MmapOptions, MmapRaw};

use super::error::device_error;
use crate::device::{Access, DeviceError, DeviceErrorKind};
use crate::model::IpcHandle;

/// Byte of memory that nobody wrote: a NaN in every float type.
const POISON: u8 = 0xFF;

pub(super) struct Memory {
    pub(super) name: String,
    pub(super) address: CUdeviceptr,
    pub(super) bytes: u64,
    pub(super) access: Access,
    /// Where the content goes at the end, for a copy of writable shared memory.
    staged: Option<MmapRaw>,
}

impl Memory {
    /// Private memory, every byte 0xFF.
    pub(super) fn private(name: &str, bytes: u64) -> Result<Self, DeviceError> {
        let what = format!("buffer '{name}' of {bytes} bytes");
        let address = allocate(bytes).map_err(|error| device_error(&what, error))?;
        let memory = Self { name: name.to_owned(), address, bytes, access: Access::ReadWrite, staged: None };
        // SAFETY: the allocation has this size.
        unsafe { result::memset_d8_sync(address, POISON, bytes as usize) }
            .map_err(|error| device_error(&what, error))?;
        Ok(memory)
    }

    /// A copy of a range of a memory file.
    pub(super) fn copied(
        name: &str,
        file: BorrowedFd<'_>,
        offset: u64,
        bytes: u64,
        access: Access,
    ) -> Result<Self, DeviceError> {
        let mut memory = Self::private(name, bytes)?;
        memory.access = access;
        if bytes == 0 {
            return Ok(memory);
        }
        let environment = |error: std::io::Error| DeviceError {
            kind: DeviceErrorKind::Environment,
            message: format!("buffer '{name}': the judge's memory cannot be mapped: {error}"),
        };
        let options = MmapOptions::new().offset(offset).len(bytes as usize).clone();
        match access {
            Access::Read => {
                // SAFETY: the judge does not change inputs while a launcher lives, and the file cannot shrink.
                let map = unsafe { options.map(file.as_raw_fd()) }.map_err(environment)?;
                // SAFETY: the allocation has the mapping's size.
                unsafe { result::memcpy_htod_sync(memory.address, &map) }
                    .map_err(|error| device_error(&format!("buffer '{name}'"), error))?;
            }
            Access::ReadWrite => memory.staged = Some(options.map_raw(file.as_raw_fd()).map_err(environment)?),
        }
        Ok(memory)
    }

    /// A range of the judge's own allocation.
    pub(super) fn opened(name: &str, base: CUdeviceptr, offset: u64, bytes: u64, access: Access) -> Self {
        Self { name: name.to_owned(), address: base + offset, bytes, access, staged: None }
    }

    /// Writes the content of a writable copy back to the judge's file.
    pub(super) fn write_back(&self) -> Result<(), DeviceError> {
        let Some(map) = &self.staged else { return Ok(()) };
        // SAFETY: the mapping has `bytes` bytes, is writable, and the judge reads it after this process ended.
        let bytes = unsafe { std::slice::from_raw_parts_mut(map.as_mut_ptr(), self.bytes as usize) };
        // SAFETY: the allocation has the mapping's size.
        unsafe { result::memcpy_dtoh_sync(bytes, self.address) }
            .map_err(|error| device_error(&format!("reading buffer '{}'", self.name), error))
    }
}

/// Device memory, at least one byte, so that every buffer has an address of its own.
pub(super) fn allocate(bytes: u64) -> Result<CUdeviceptr, DriverError> {
    // SAFETY: a plain allocation.
    unsafe { result::malloc_sync(bytes.max(1) as usize) }
}

/// The judge's allocations that this process has opened.
#[derive(Default)]
pub(super) struct Opened(HashMap<IpcHandle, CUdeviceptr>);

impl Opened {
    /// The address of the judge's allocation in this process.
    pub(super) fn base(&mut self, handle: &IpcHandle) -> Result<CUdeviceptr, DeviceError> {
        if let Some(base) = self.0.get(handle) {
            return Ok(*base);
        }
        let mut base = 0;
        let raw = sys::CUipcMemHandle { reserved: handle.0.map(|byte| byte as std::ffi::c_char) };
        let flags = CUipcMem_flags_enum::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS as u32;
        // SAFETY: the out-pointer is valid; a handle that names nothing is an error of the driver.
        unsafe { sys::cuIpcOpenMemHandle_v2(&raw mut base, raw, flags).result() }.map_err(|error| DeviceError {
            kind: DeviceErrorKind::Sharing,
            message: device_error("the judge's memory cannot be opened", error).message,
        })?;
        self.0.insert(*handle, base);
        Ok(base)
    }
}
