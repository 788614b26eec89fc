//! Starts a child: own process group, own pipes at fixed descriptors, cleaned environment, dies with its parent.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use command_fds::{CommandFdExt, FdMapping};
use rustix::pipe::{PipeFlags, pipe_with};

/// Where a child finds its descriptors.
pub(super) const REQUEST_FD: i32 = 3;
pub(super) const REPLY_FD: i32 = 4;
pub(super) const INPUTS_FD: i32 = 5;
pub(super) const OUTPUTS_FD: i32 = 6;

/// The running program itself, even when its file was replaced by a rebuild meanwhile.
pub(super) fn this_program() -> PathBuf {
    PathBuf::from("/proc/self/exe")
}

/// A command that runs `program` in a role, with what it needs of the environment and nothing else.
pub(super) fn role(program: &Path, word: &str) -> Command {
    let mut command = Command::new(program);
    command.arg0("popcorn").arg(word).env_clear().envs(kept_environment(std::env::vars_os()));
    // Compilers' messages are read by popcorn.
    command.env("LC_ALL", "C");
    command
}

/// Where programs and libraries are found, where temporary files go, and what is popcorn's or CUDA's.
fn kept_environment(all: impl Iterator<Item = (OsString, OsString)>) -> impl Iterator<Item = (OsString, OsString)> {
    let kept = |name: &OsStr| {
        let name = name.to_string_lossy();
        ["PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "CXX", "VIRTUAL_ENV", "RUST_BACKTRACE"].contains(&name.as_ref())
            || name.starts_with("POPCORN_")
            || name.starts_with("CUDA_")
    };
    all.filter(move |(name, _)| kept(name))
}

/// A started child and the judge's ends of its pipes.
pub(super) struct Spawned {
    pub(super) child: Child,
    pub(super) request: File,
    pub(super) reply: File,
    pub(super) stdout: File,
    pub(super) stderr: File,
}

/// Starts `command` with a request pipe at 3, a reply pipe at 4 and `files` at 5 and up; nothing else is inherited.
pub(super) fn spawn(mut command: Command, files: Vec<OwnedFd>) -> io::Result<Spawned> {
    let (request_read, request_write) = pipe_with(PipeFlags::CLOEXEC)?;
    let (reply_read, reply_write) = pipe_with(PipeFlags::CLOEXEC)?;
    let parent = rustix::process::getpid();
    // SAFETY: the closure runs between fork and exec and makes only async-signal-safe system calls.
    unsafe {
        command.pre_exec(move || before_exec(parent));
    }
    let mut mappings = vec![
        FdMapping { parent_fd: request_read, child_fd: REQUEST_FD },
        FdMapping { parent_fd: reply_write, child_fd: REPLY_FD },
    ];
    for (child_fd, parent_fd) in (INPUTS_FD..).zip(files) {
        mappings.push(FdMapping { parent_fd, child_fd });
    }
    command.fd_mappings(mappings).map_err(io::Error::other)?;
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let missing = || io::Error::other("a pipe of the child is missing");
    let stdout = OwnedFd::from(child.stdout.take().ok_or_else(missing)?).into();
    let stderr = OwnedFd::from(child.stderr.take().ok_or_else(missing)?).into();
    Ok(Spawned { child, request: request_write.into(), reply: reply_read.into(), stdout, stderr })
}

/// In the child: die with the parent, leave no core file, inherit no descriptor beyond the mapped ones.
fn before_exec(parent: rustix::process::Pid) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, Signal, getppid, set_parent_process_death_signal, setrlimit};
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid() != Some(parent) {
        return Err(io::Error::from(rustix::io::Errno::SRCH)); // the parent died before the line above
    }
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    // SAFETY: a plain system call without pointers. Descriptors from 3 on close at exec; mapping follows and clears the
    // flag for those that stay. A kernel without the call (before 5.11) leaves descriptors to their own flags.
    unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    Ok(())
}

/// In a child started by [`spawn`]: takes one of the fixed descriptors.
pub(super) fn take_fd(fd: i32) -> Result<OwnedFd, String> {
    // SAFETY: asks for flags only; a closed descriptor is reported as an error.
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFD) };
    if flags < 0 {
        return Err("this command is started by popcorn itself, not by hand".to_owned());
    }
    // SAFETY: the descriptor is open, was mapped by `spawn` for this purpose, and each role takes each once.
    let owned = unsafe { OwnedFd::from_raw_fd(fd) };
    rustix::io::fcntl_setfd(&owned, rustix::io::FdFlags::CLOEXEC).map_err(|error| error.to_string())?;
    Ok(owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environment_is_cleaned() {
        let all = ["PATH", "LD_PRELOAD", "POPCORN_CACHE_DIR", "GLIBC_TUNABLES", "CUDA_HOME", "OPENBLAS_NUM_THREADS"];
        let kept: Vec<_> =
            kept_environment(all.iter().map(|name| (name.into(), "x".into()))).map(|(name, _)| name).collect();
        assert_eq!(kept, ["PATH", "POPCORN_CACHE_DIR", "CUDA_HOME"]);
    }
}
