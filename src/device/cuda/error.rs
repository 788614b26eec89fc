//! Driver errors as the judge counts them.

use cudarc::driver::result::DriverError;
use cudarc::driver::sys::CUresult;

use super::driver::describe;
use crate::device::{DeviceError, DeviceErrorKind};

/// `what` failed with `error`.
pub(super) fn device_error(what: &str, error: DriverError) -> DeviceError {
    DeviceError { kind: kind(error.0), message: format!("{what}: {}", describe(error)) }
}

/// Errors that only a kernel can cause are faults; the context is lost with most of them. See `CUresult` in the CUDA
/// driver API reference.
fn kind(code: CUresult) -> DeviceErrorKind {
    match code {
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => DeviceErrorKind::Oom,
        CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES | CUresult::CUDA_ERROR_INVALID_VALUE => DeviceErrorKind::Launch,
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
        | CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
        | CUresult::CUDA_ERROR_ASSERT
        | CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR
        | CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
        | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
        | CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE
        | CUresult::CUDA_ERROR_INVALID_PC
        | CUresult::CUDA_ERROR_LAUNCH_FAILED => DeviceErrorKind::Fault,
        _ => DeviceErrorKind::Environment,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_kernel_did_is_told_from_what_the_machine_lacks() {
        assert_eq!(kind(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS), DeviceErrorKind::Fault);
        assert_eq!(kind(CUresult::CUDA_ERROR_OUT_OF_MEMORY), DeviceErrorKind::Oom);
        assert_eq!(kind(CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES), DeviceErrorKind::Launch);
        assert_eq!(kind(CUresult::CUDA_ERROR_NO_DEVICE), DeviceErrorKind::Environment);
    }
}
