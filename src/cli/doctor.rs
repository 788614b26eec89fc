//! `popcorn doctor`: what this machine has, what is missing, and how to get it.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use crate::device::{self, cpu};
use crate::host::{Workspace, cache_root};
use crate::ledger;

use crate::model::{DeviceInfo, Exit};
use crate::report::{Style, paint, table};

/// One line of the report.
#[derive(Serialize)]
struct Check {
    name: &'static str,
    ok: bool,
    /// What was found.
    found: String,
    /// What to do about it; empty when all is well.
    next_step: String,
}

impl Check {
    fn new(name: &'static str, found: Result<String, (String, String)>) -> Self {
        match found {
            Ok(found) => Self { name, ok: true, found, next_step: String::new() },
            Err((found, next_step)) => Self { name, ok: false, found, next_step },
        }
    }
}

/// Prints all checks; exit 4 when one of them keeps `popcorn loop try` from working.
pub(super) fn run(json: bool) -> anyhow::Result<Exit> {
    let cache = cache_root()?;
    let checks = [compiler(&cache), the_device(&cache), the_cache(&cache), workspace(&cache), git()];
    let well = checks.iter().all(|check| check.ok);
    let mut out = io::stdout().lock();
    if json {
        writeln!(out, "{}", serde_json::json!({ "ok": well, "checks": checks }))?;
    } else {
        let rows: Vec<Vec<String>> = checks
            .iter()
            .map(|check| {
                let mark = if check.ok { "ok" } else { "missing" };
                vec![mark.to_owned(), check.name.to_owned(), check.found.clone()]
            })
            .collect();
        writeln!(out, "{}", table(&[], &rows, "lll"))?;
        for check in checks.iter().filter(|check| !check.ok) {
            writeln!(out, "{}: {}", paint(check.name, Style::Bad), check.next_step)?;
        }
    }
    Ok(if well { Exit::Keep } else { Exit::Fault })
}

fn compiler(cache: &Path) -> Check {
    let found = cpu::find_compiler(cache).map(|compiler| format!("{} ({})", compiler.version, compiler.path.display()));
    let how = "install one (Debian, Ubuntu: apt install g++; Fedora: dnf install gcc-c++; macOS: xcode-select --install) \
               or name one in POPCORN_CXX";
    Check::new("compiler", found.map_err(|error| (error.message, how.to_owned())))
}

fn the_device(cache: &Path) -> Check {
    let show =
        |info: DeviceInfo| format!("{}, {:.1} GiB of memory", info.name, info.memory_bytes as f64 / f64::from(1 << 30));
    let found = device::describe("cpu", cache).map(show);
    Check::new("device", found.map_err(|why| (why, "see the line on the compiler".to_owned())))
}

fn the_cache(cache: &Path) -> Check {
    let probe = ledger::check_writable(&cache.join("loop/.doctor.jsonl"));
    let _ = std::fs::remove_file(cache.join("loop/.doctor.jsonl"));
    let found = probe.map(|()| cache.display().to_string());
    Check::new(
        "cache",
        found.map_err(|error| (error.to_string(), "set POPCORN_CACHE_DIR to a folder that can be written".to_owned())),
    )
}

/// Either way is fine; people want to know which files they are running.
fn workspace(cache: &Path) -> Check {
    let here = std::env::current_dir().unwrap_or_default();
    let found = match Workspace::discover(&here, cache).root {
        Some(root) => root.display().to_string(),
        None => "none here: the built-in ops, scripts and kernels are used (popcorn init writes them out)".to_owned(),
    };
    Check::new("workspace", Ok(found))
}

/// Only the record's commit depends on it.
fn git() -> Check {
    let output = std::process::Command::new("git").arg("--version").output();
    let version = output.ok().map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    Check::new("git", Ok(version.unwrap_or_else(|| "none: records will not name a commit".to_owned())))
}
