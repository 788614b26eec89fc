//! The host's C++ compiler: finding it, knowing which one it is, running it.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use wait_timeout::ChildExt;

use crate::device::options::environment;
use crate::device::{CompileError, cache};

/// CPU seconds that one compiler process may take.
const CPU_SECONDS: u64 = 60;
/// Wall-clock limit of one compiler run.
const WALL: Duration = Duration::from_secs(120);

/// A usable C++ compiler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCompiler {
    pub path: PathBuf,
    /// First line of `--version`.
    pub version: String,
    /// Whether it takes clang's options rather than g++'s.
    pub is_clang: bool,
    /// Path, size and time of the program: changes when the compiler does.
    pub identity: String,
}

/// Finds the compiler: `POPCORN_CXX`, then g++, clang++, c++ on the path. Its version is remembered in `cache_dir`
/// if that can be written.
pub fn find_compiler(cache_dir: &Path) -> Result<HostCompiler, CompileError> {
    match std::env::var_os("POPCORN_CXX").filter(|wanted| !wanted.is_empty()) {
        Some(wanted) => find_named(&wanted, cache_dir),
        None => {
            let (path, identity) = locate(&search_path())?;
            identify(path, identity, cache_dir)
        }
    }
}

/// The compiler of a given name or path.
pub(super) fn find_named(name: &OsStr, cache_dir: &Path) -> Result<HostCompiler, CompileError> {
    let (path, identity) = resolve(name, &search_path()).ok_or_else(|| {
        environment(format!("POPCORN_CXX={}: no such program; unset it to use g++ or clang++", name.display()))
    })?;
    identify(path, identity, cache_dir)
}

/// Asks the program what it is, unless that is known.
fn identify(path: PathBuf, identity: String, cache_dir: &Path) -> Result<HostCompiler, CompileError> {
    let note = super::folder(cache_dir).join(format!("compiler-{}.json", cache::hash_bytes(identity.as_bytes())));
    if let Some(known) = std::fs::read(&note).ok().and_then(|bytes| serde_json::from_slice::<HostCompiler>(&bytes).ok())
        && known.identity == identity
        && known.path == path
    {
        return Ok(known);
    }
    let output = run(Command::new(&path).arg("--version"), &path)?;
    if !output.success {
        return Err(environment(format!("{} --version failed; set POPCORN_CXX to a C++ compiler", path.display())));
    }
    let version = output.text.lines().next().unwrap_or_default().trim().to_owned();
    let is_clang = output.text.contains("clang");
    let found = HostCompiler { path, version, is_clang, identity };
    if let Ok(bytes) = serde_json::to_vec(&found) {
        // A cache that cannot be written is reported by whoever must write to it.
        let _ = cache::write_atomic(&note, &bytes);
    }
    Ok(found)
}

fn search_path() -> OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

/// Path and identity of the compiler, without running it.
pub(super) fn locate(search: &OsStr) -> Result<(PathBuf, String), CompileError> {
    ["g++", "clang++", "c++"].into_iter().find_map(|name| resolve(OsStr::new(name), search)).ok_or_else(|| {
        environment(
            "no C++ compiler found (looked for g++, clang++, c++ on PATH); install one, e.g. `apt install g++`, \
             or set POPCORN_CXX"
                .to_owned(),
        )
    })
}

fn resolve(name: &OsStr, search: &OsStr) -> Option<(PathBuf, String)> {
    let candidates: Vec<PathBuf> = if Path::new(name).components().count() > 1 {
        vec![PathBuf::from(name)]
    } else {
        std::env::split_paths(search).map(|folder| folder.join(name)).collect()
    };
    candidates.into_iter().find_map(|path| {
        let meta = std::fs::metadata(&path).ok().filter(|meta| meta.is_file() && meta.mode() & 0o111 != 0)?;
        let identity = format!(
            "{} {} {} {} {}.{}",
            path.display(),
            meta.dev(),
            meta.ino(),
            meta.size(),
            meta.mtime(),
            meta.mtime_nsec()
        );
        Some((path, identity))
    })
}

/// What a compiler run said.
pub(super) struct Output {
    pub(super) success: bool,
    pub(super) text: String,
    /// The signal that ended it.
    pub(super) signal: Option<i32>,
}

/// Runs the compiler with its own limits, so that it dies with us and cannot run on. stdout and stderr come together.
pub(super) fn run(command: &mut Command, path: &Path) -> Result<Output, CompileError> {
    let failed = |what: &str, error: std::io::Error| environment(format!("{what} {}: {error}", path.display()));
    let mut log = tempfile::tempfile().map_err(|error| {
        environment(format!("cannot make a temporary file in {}: {error}", std::env::temp_dir().display()))
    })?;
    let twin = |log: &std::fs::File| log.try_clone().map_err(|error| failed("cannot start", error));
    command
        .stdin(Stdio::null())
        .stdout(twin(&log)?)
        .stderr(twin(&log)?)
        .env("LC_ALL", "C")
        .env_remove("CPATH")
        .env_remove("CPLUS_INCLUDE_PATH");
    let parent = std::process::id();
    // SAFETY: only async-signal-safe calls between fork and exec.
    unsafe {
        command.pre_exec(move || {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            if libc::getppid() as u32 != parent {
                libc::_exit(1);
            }
            let cpu = libc::rlimit { rlim_cur: CPU_SECONDS, rlim_max: CPU_SECONDS + 5 };
            libc::setrlimit(libc::RLIMIT_CPU, &raw const cpu);
            Ok(())
        })
    };
    let mut child = command.spawn().map_err(|error| failed("cannot start", error))?;
    let status = match child.wait_timeout(WALL).map_err(|error| failed("cannot wait for", error))? {
        Some(status) => status,
        None => {
            let _ = child.kill();
            let _ = child.wait();
            return Err(environment(format!("{} took longer than {} s", path.display(), WALL.as_secs())));
        }
    };
    use std::io::{Read, Seek};
    let mut bytes = Vec::new();
    log.rewind()
        .and_then(|()| log.read_to_end(&mut bytes))
        .map_err(|error| failed("cannot read the output of", error))?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(Output { success: status.success(), text, signal: status.signal() })
}
