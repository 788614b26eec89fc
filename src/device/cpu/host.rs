//! Facts about this machine.

use std::fs::File;
use std::io::Read;

/// The head of /proc/cpuinfo: one processor's worth, because the whole is slow to read on large machines.
fn cpuinfo() -> String {
    let mut bytes = vec![0; 4096];
    let len = File::open("/proc/cpuinfo").and_then(|mut file| file.read(&mut bytes)).unwrap_or(0);
    bytes.truncate(len);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn field<'a>(info: &'a str, key: &str) -> Option<&'a str> {
    info.lines()
        .find_map(|line| line.split_once(':').filter(|(name, _)| name.trim() == key).map(|(_, value)| value.trim()))
}

/// Marketing name of the processor.
pub(super) fn cpu_name() -> String {
    let info = cpuinfo();
    field(&info, "model name").or(field(&info, "CPU part")).unwrap_or(std::env::consts::ARCH).to_owned()
}

/// What `-march=native` depends on: compiled code must not travel to a processor without the same features.
pub(super) fn cpu_identity() -> String {
    let info = cpuinfo();
    ["vendor_id", "cpu family", "model", "model name", "flags", "Features", "CPU implementer", "CPU part"]
        .iter()
        .filter_map(|key| field(&info, key))
        .collect::<Vec<_>>()
        .join("|")
}

/// Bytes of the largest cache that the first core reaches; 32 MiB where the system does not say.
pub(super) fn cache_bytes() -> usize {
    let sizes = (0..8).filter_map(|index| {
        let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size");
        let text = std::fs::read_to_string(path).ok()?;
        let kib: usize = text.trim().strip_suffix('K')?.parse().ok()?;
        Some(kib << 10)
    });
    sizes.max().unwrap_or(32 << 20)
}

/// Cores this process may use.
pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
