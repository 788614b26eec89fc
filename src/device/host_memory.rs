//! How much memory can be had without waking the out-of-memory killer.

use std::fs;
use std::path::{Path, PathBuf};

/// Bytes that the machine, and the control groups this process is in, can still give.
pub(crate) fn available() -> u64 {
    let mut available =
        fs::read_to_string("/proc/meminfo").ok().and_then(|text| meminfo(&text, "MemAvailable")).unwrap_or(u64::MAX);
    for group in control_groups() {
        if let Some(free) = group_free(&group) {
            available = available.min(free);
        }
    }
    available
}

/// Bytes of memory of the machine or of the tightest control group.
pub(crate) fn total() -> u64 {
    let machine =
        fs::read_to_string("/proc/meminfo").ok().and_then(|text| meminfo(&text, "MemTotal")).unwrap_or(u64::MAX);
    let limits = control_groups().into_iter().map(|group| group.join("memory.max"));
    // The second is version 1's.
    limits
        .chain(["/sys/fs/cgroup/memory/memory.limit_in_bytes".into()])
        .filter_map(|path| number(&path))
        .fold(machine, u64::min)
}

/// A line such as `MemAvailable:   1234 kB`, in bytes.
fn meminfo(text: &str, key: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    rest.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// This process's control group (version 2) and its parents.
fn control_groups() -> Vec<PathBuf> {
    let text = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let Some(path) = text.lines().find_map(|line| line.strip_prefix("0::/")) else { return Vec::new() };
    let root = Path::new("/sys/fs/cgroup");
    let own = root.join(path);
    own.ancestors().take_while(|folder| folder.starts_with(root)).map(Path::to_owned).collect()
}

/// `memory.max` less what is in use and cannot be reclaimed at once; None without a limit.
fn group_free(group: &Path) -> Option<u64> {
    let limit = number(&group.join("memory.max"))?;
    let used = number(&group.join("memory.current"))?;
    let stat = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
    let cache = stat.lines().find_map(|line| line.strip_prefix("inactive_file ")?.parse::<u64>().ok()).unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(cache)))
}

fn number(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meminfo_lines() {
        let text = "MemTotal:       16 kB\nMemAvailable:    2 kB\nOdd: x\n";
        assert_eq!(meminfo(text, "MemAvailable"), Some(2048));
        assert_eq!(meminfo(text, "Mem"), None);
        assert_eq!(meminfo(text, "Odd"), None);
    }

    #[test]
    fn this_machine_has_memory() {
        assert!(available() > 0 && available() <= total());
    }
}
