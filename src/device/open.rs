//! Devices by name: `cpu`, `cuda:N`, and for plans alone a GPU architecture such as `sm_90`.

use std::path::Path;

use super::cpu::{self, CpuCompiler, CpuDevice};
use super::cuda::{self, CudaCompiler, CudaDevice};
use super::{Compiler, Device, host_memory};
use crate::model::{DeviceInfo, DeviceKind, Plan, Target};

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Known {
    Cpu,
    Cuda(u32),
    /// An architecture that plans can be made for without a GPU.
    Architecture(String),
}

fn parse(name: &str) -> Result<Known, String> {
    let unknown = || format!("there is no device '{name}'; there are: auto, cpu, cuda, cuda:N");
    match name {
        "cpu" => Ok(Known::Cpu),
        "cuda" => Ok(Known::Cuda(0)),
        _ => {
            if let Some(ordinal) = name.strip_prefix("cuda:") {
                return ordinal.parse().map(Known::Cuda).map_err(|_| unknown());
            }
            let digits = name.strip_prefix("sm_").ok_or_else(unknown)?;
            let number = digits.trim_end_matches(['a', 'f']);
            let valid = (2..=3).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
            let valid = valid && digits.len() <= number.len() + 1;
            if valid { Ok(Known::Architecture(name.to_owned())) } else { Err(unknown()) }
        }
    }
}

/// The device that a `--device` word stands for on this machine, under its full name: `cpu` or `cuda:N`. `auto` is the
/// first GPU where one is usable, else the cpu device. The error says what there is.
pub fn resolve(name: &str) -> Result<String, String> {
    if name == "auto" {
        return Ok(if cuda::count().is_ok() { "cuda:0" } else { "cpu" }.to_owned());
    }
    match parse(name)? {
        Known::Cpu => Ok("cpu".to_owned()),
        Known::Cuda(ordinal) => cuda::gpu(ordinal).map(|gpu| format!("cuda:{}", gpu.ordinal)),
        Known::Architecture(name) => Err(format!("{name} is an architecture: it can be compiled for, not run")),
    }
}

/// Whether a resolved device is a GPU.
pub fn kind(id: &str) -> Result<DeviceKind, String> {
    Ok(match parse(id)? {
        Known::Cpu => DeviceKind::Cpu,
        Known::Cuda(_) | Known::Architecture(_) => DeviceKind::Cuda,
    })
}

/// What a record says of a resolved device, without opening it. The compiler is empty where there is none.
pub fn describe(id: &str, cache_dir: &Path) -> Result<DeviceInfo, String> {
    let compiler = || {
        let found = target(id).and_then(|target| compiler(&target, cache_dir));
        found.map(|compiler| compiler.describe()).unwrap_or_default()
    };
    match parse(id)? {
        Known::Cpu => Ok(cpu::describe(compiler())),
        Known::Cuda(ordinal) => Ok(cuda::gpu(ordinal)?.describe(compiler())),
        Known::Architecture(name) => Err(format!("{name} is an architecture: it can be compiled for, not run")),
    }
}

/// What plans for a device are made for.
pub fn target(id: &str) -> Result<Target, String> {
    match parse(id)? {
        Known::Cpu => Ok(Target {
            kind: DeviceKind::Cpu,
            architecture: None,
            driver: None,
            processors: std::thread::available_parallelism().map_or(1, |count| count.get() as u32),
            // As on Hopper, so that what fits here fits there.
            shared_memory_per_block: HOPPER_SHARED,
            memory_bytes: host_memory::total(),
        }),
        Known::Cuda(ordinal) => Ok(cuda::gpu(ordinal)?.target()),
        // Without a GPU to ask: an H100's numbers, of which a compilation depends on none.
        Known::Architecture(name) => Ok(Target {
            kind: DeviceKind::Cuda,
            architecture: Some(name),
            driver: None,
            processors: 132,
            shared_memory_per_block: HOPPER_SHARED,
            memory_bytes: 80 << 30,
        }),
    }
}

/// Bytes, from "Technical Specifications per Compute Capability" in the CUDA C++ Programming Guide.
const HOPPER_SHARED: u32 = 227 << 10;

/// The compiler for a target.
pub fn compiler(target: &Target, cache_dir: &Path) -> Result<Box<dyn Compiler>, String> {
    match (target.kind, &target.architecture) {
        (DeviceKind::Cpu, _) => Ok(Box::new(CpuCompiler::new(cache_dir).map_err(|error| error.message)?)),
        (DeviceKind::Cuda, Some(architecture)) => {
            Ok(Box::new(CudaCompiler::new(architecture, target.driver).map_err(|error| error.message)?))
        }
        (DeviceKind::Cuda, None) => Err("a cuda target needs an architecture".to_owned()),
    }
}

/// Opens a device to replay `plan` on.
pub fn open(id: &str, plan: &Plan) -> Result<Box<dyn Device>, String> {
    match parse(id)? {
        Known::Cpu => Ok(Box::new(CpuDevice::new(plan.compiler.clone()))),
        Known::Cuda(ordinal) => Ok(Box::new(CudaDevice::open(ordinal, plan.compiler.clone())?)),
        Known::Architecture(name) => Err(format!("{name} is an architecture: it can be compiled for, not run")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_devices_are_read_strictly() {
        assert_eq!(parse("cpu"), Ok(Known::Cpu));
        assert_eq!((parse("cuda"), parse("cuda:7")), (Ok(Known::Cuda(0)), Ok(Known::Cuda(7))));
        for name in ["sm_80", "sm_90a", "sm_100", "sm_100f", "sm_120"] {
            assert_eq!(parse(name), Ok(Known::Architecture(name.to_owned())));
        }
        for name in [
            "",
            "gpu",
            "CPU",
            "cuda:",
            "cuda:-1",
            "cuda:x",
            "cuda:99999999999",
            "sm_",
            "sm_9",
            "sm_9000",
            "sm_90ab",
            "sm_x0",
        ] {
            let error = parse(name).unwrap_err();
            assert_eq!(error, format!("there is no device '{name}'; there are: auto, cpu, cuda, cuda:N"));
        }
    }

    #[test]
    fn an_architecture_can_be_planned_for_and_not_run() {
        let target = target("sm_90").unwrap();
        assert_eq!((target.kind, target.architecture.as_deref()), (DeviceKind::Cuda, Some("sm_90")));
        assert_eq!(resolve("sm_90").unwrap_err(), "sm_90 is an architecture: it can be compiled for, not run");
    }
}
