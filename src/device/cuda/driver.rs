//! The driver: whether it is there, what GPUs it has, and a context on one of them.

use std::ffi::c_int;
use std::sync::OnceLock;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUdevice_attribute as Attribute};
use libloading::Library;

use crate::model::{DeviceInfo, DeviceKind, Target};

/// Newest functions that are used; a driver without them is too old. The binding would panic on a missing one.
const NEEDED: [&str; 12] = [
    "cuInit",
    "cuDriverGetVersion",
    "cuDevicePrimaryCtxRetain",
    "cuDeviceGetUuid_v2",
    "cuMemAlloc_v2",
    "cuIpcOpenMemHandle_v2",
    "cuStreamBeginCapture_v2",
    "cuEventRecordWithFlags",
    "cuGraphInstantiateWithFlags",
    "cuGraphUpload",
    "cuCtxResetPersistingL2Cache",
    "cuEventElapsedTime",
];

/// What is known of a GPU without a context on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gpu {
    pub ordinal: u32,
    pub name: String,
    /// As `nvidia-smi -L` shows it: `GPU-…`.
    pub uuid: String,
    pub memory_bytes: u64,
    pub processors: u32,
    pub shared_memory_per_block: u32,
    pub l2_bytes: u64,
    /// Compute capability.
    pub capability: (u32, u32),
    /// `cuDriverGetVersion`: 1000 major + 10 minor of the newest CUDA that the driver runs.
    pub driver: i32,
}

/// Number of GPUs, or why there is no usable driver.
pub fn count() -> Result<u32, String> {
    static COUNT: OnceLock<Result<u32, String>> = OnceLock::new();
    COUNT.get_or_init(start).clone()
}

fn start() -> Result<u32, String> {
    // SAFETY: the driver's initialisers have no requirements.
    let library = unsafe { Library::new("libcuda.so.1").or_else(|_| Library::new("libcuda.so")) }
        .map_err(|_| "no NVIDIA driver (libcuda.so.1) on this machine".to_owned())?;
    for name in NEEDED {
        // SAFETY: only asked whether it is there.
        if unsafe { library.get::<unsafe extern "C" fn()>(name.as_bytes()) }.is_err() {
            return Err(format!(
                "the NVIDIA driver is too old: it has no {name}; driver 550 (CUDA 12.4) or newer will do"
            ));
        }
    }
    std::mem::forget(library); // stays loaded, as the binding opens it by name
    result::init().map_err(|error| format!("the NVIDIA driver cannot start: {}", describe(error)))?;
    let count = result::device::get_count().map_err(|error| format!("no GPU can be counted: {}", describe(error)))?;
    match u32::try_from(count) {
        Ok(count) if count > 0 => Ok(count),
        _ => Err("the NVIDIA driver sees no GPU".to_owned()),
    }
}

/// The GPU with a number. The error names what there is.
pub fn gpu(ordinal: u32) -> Result<Gpu, String> {
    let count = count()?;
    if ordinal >= count {
        let devices = if count == 1 { "one GPU, cuda:0".to_owned() } else { format!("cuda:0 to cuda:{}", count - 1) };
        return Err(format!("there is no cuda:{ordinal}; this machine has {devices}"));
    }
    query(ordinal).map_err(|error| format!("cuda:{ordinal} cannot be asked: {}", describe(error)))
}

fn query(ordinal: u32) -> Result<Gpu, DriverError> {
    let device = result::device::get(ordinal as c_int)?;
    // SAFETY: `device` comes from the driver; out-pointers are valid.
    unsafe {
        let attribute = |which| result::device::get_attribute(device, which).map(|value| value.max(0) as u32);
        let mut driver = 0;
        sys::cuDriverGetVersion(&raw mut driver).result()?;
        let uuid = result::device::get_uuid(device)?;
        let hex: String = uuid.bytes.iter().map(|byte| format!("{:02x}", *byte as u8)).collect();
        let uuid = format!("GPU-{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]);
        Ok(Gpu {
            ordinal,
            name: result::device::get_name(device)?,
            uuid,
            memory_bytes: result::device::total_mem(device)? as u64,
            processors: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            shared_memory_per_block: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
            l2_bytes: u64::from(attribute(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?),
            capability: (
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            ),
            driver,
        })
    }
}

impl Gpu {
    /// What a record says of it.
    pub fn describe(&self, compiler: String) -> DeviceInfo {
        DeviceInfo {
            kind: DeviceKind::Cuda.name().to_owned(),
            name: self.name.clone(),
            memory_bytes: self.memory_bytes,
            processors: self.processors,
            compiler,
        }
    }

    pub fn target(&self) -> Target {
        Target {
            kind: DeviceKind::Cuda,
            architecture: Some(self.architecture()),
            driver: Some(self.driver),
            processors: self.processors,
            shared_memory_per_block: self.shared_memory_per_block,
            memory_bytes: self.memory_bytes,
        }
    }

    /// NVRTC's name of the architecture; from Hopper on with the instructions that only this one has.
    pub fn architecture(&self) -> String {
        let (major, minor) = self.capability;
        format!("sm_{major}{minor}{}", if major >= 9 { "a" } else { "" })
    }
}

/// `CUDA_ERROR_OUT_OF_MEMORY (out of memory)`.
pub(super) fn describe(error: DriverError) -> String {
    let text = |found: Result<&std::ffi::CStr, DriverError>| found.map(|text| text.to_string_lossy().into_owned()).ok();
    match (text(error.error_name()), text(error.error_string())) {
        (Some(name), Some(string)) => format!("{name} ({string})"),
        _ => format!("CUDA error {}", error.0 as u32),
    }
}

/// The primary context of a GPU, current on this thread. Kept until the process ends.
#[derive(Clone, Debug)]
pub struct Context {
    pub gpu: Gpu,
}

impl Context {
    /// Creates the context, or makes the one that there is current.
    pub fn open(ordinal: u32) -> Result<Self, String> {
        let gpu = gpu(ordinal)?;
        let open = || -> Result<(), DriverError> {
            let device = result::device::get(ordinal as c_int)?;
            // SAFETY: the device is valid; a retained context stays valid for the process's life.
            unsafe { result::ctx::set_current(result::primary_ctx::retain(device)?) }
        };
        open().map_err(|error| format!("no context on cuda:{ordinal}: {}", describe(error)))?;
        Ok(Self { gpu })
    }
}
