//! Loaded cubins.

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{CUfunction, CUfunction_attribute as Attribute, CUmodule};

use super::error::device_error;
use crate::device::{DeviceError, DeviceErrorKind};
use crate::model::Module;

/// A module and its kernels, in the order of its description.
pub(super) struct Loaded {
    pub(super) description: Module,
    pub(super) kernels: Vec<Kernel>,
}

#[derive(Clone, Copy)]
pub(super) struct Kernel {
    pub(super) function: CUfunction,
    /// Threads that one block can have, given the registers that the kernel takes.
    pub(super) max_threads: u32,
    /// Static shared memory, bytes.
    static_shared: u32,
}

impl Loaded {
    pub(super) fn open(module: &Module) -> Result<Self, DeviceError> {
        let path = module.artifact.display();
        let environment = |what: String| DeviceError { kind: DeviceErrorKind::Environment, message: what };
        let mut image = std::fs::read(&module.artifact)
            .map_err(|error| environment(format!("{path}: the compiled kernels cannot be read: {error}")))?;
        image.push(0);
        // SAFETY: the image outlives the call, which copies it; the compile cache has checked what it holds.
        let loaded = unsafe { result::module::load_data(image.as_ptr().cast()) };
        let loaded = loaded.map_err(|error| device_error(&format!("{path}: cannot be loaded"), error))?;
        let kernels = module.kernels.iter().map(|kernel| {
            let symbol = kernel.symbol.as_deref().unwrap_or(&kernel.name);
            Kernel::find(loaded, symbol)
                .map_err(|error| device_error(&format!("kernel '{}' in {path}", kernel.name), error))
        });
        let kernels = kernels.collect::<Result<Vec<_>, _>>()?;
        Ok(Self { description: module.clone(), kernels })
    }
}

impl Kernel {
    pub(super) fn find(module: CUmodule, symbol: &str) -> Result<Self, DriverError> {
        // A symbol never holds a zero byte: it comes from a C string.
        let symbol = std::ffi::CString::new(symbol).unwrap_or_default();
        // SAFETY: the module is loaded.
        unsafe {
            let function = result::module::get_function(module, symbol)?;
            let attribute = |which| result::function::get_function_attribute(function, which).map(|n| n.max(0) as u32);
            Ok(Self {
                function,
                max_threads: attribute(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
                static_shared: attribute(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            })
        }
    }

    /// Bytes of dynamic shared memory that a block can have beside the static ones.
    pub(super) fn max_dynamic(&self, shared_memory_per_block: u32) -> u32 {
        shared_memory_per_block.saturating_sub(self.static_shared)
    }

    /// Asks for more than the 48 KiB that a launch gets unasked.
    pub(super) fn allow_shared(&self, bytes: u32) -> Result<(), DriverError> {
        if bytes <= 48 << 10 {
            return Ok(());
        }
        let which = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function's module stays loaded for the process's life.
        unsafe { result::function::set_function_attribute(self.function, which, bytes as i32) }
    }
}
