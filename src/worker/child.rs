//! One child process from spawn to reaping.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use command_fds::{CommandFdExt, FdMapping};
use rustix::process::{Pid, Signal, kill_process};
use serde::de::DeserializeOwned;
use wait_timeout::ChildExt;

use super::live::Group;
use super::tail::Tail;
use super::wire::{self, WireError};

/// Where a child finds its request.
pub(super) const REQUEST_FD: i32 = 3;
/// Where a child writes its reply.
pub(super) const REPLY_FD: i32 = 4;
/// The launcher's two memory files.
pub(super) const INPUTS_FD: i32 = 5;
pub(super) const OUTPUTS_FD: i32 = 6;

/// Variables that a child may see; compilers and toolkits need some.
const ENVIRONMENT: [&str; 9] = [
    "PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "POPCORN_CACHE_DIR", "POPCORN_CXX", "CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV",
];

/// How long a child that overran its deadline has to say where it is, before it is killed.
const GRACE: Duration = Duration::from_millis(300);
/// How long output of a dead child is waited for, when a descendant keeps a pipe open.
const DRAIN: Duration = Duration::from_secs(2);

/// How a child ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    Exit(i32),
    Signal(i32),
    /// Killed after its deadline.
    Deadline(Duration),
}

/// Everything that is known about a finished child.
pub(super) struct Finished<T> {
    pub(super) end: End,
    /// Well-formed frames, in order, and what was wrong with the next one.
    pub(super) frames: Vec<T>,
    pub(super) wire: Option<WireError>,
    /// The last lines of stdout and of stderr.
    pub(super) output: Vec<String>,
}

/// The hidden subcommand `role` of this binary, with a clean environment and no terminal.
pub(super) fn role(role: &str) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(role).env_clear();
    for name in ENVIRONMENT {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    Ok(command)
}

/// Runs `command` with `request` on its request pipe and `files` at their numbers, and waits for its end. The child
/// leads a process group of its own, which is killed as a whole when it overruns `timeout` and after it ended.
pub(super) fn run<T: DeserializeOwned + Send + 'static>(
    mut command: Command,
    request: Vec<u8>,
    files: Vec<(OwnedFd, i32)>,
    timeout: Duration,
) -> io::Result<Finished<T>> {
    let (request_reader, request_writer) = io::pipe()?;
    let (reply_reader, reply_writer) = io::pipe()?;
    let mut mappings = vec![
        FdMapping { parent_fd: request_reader.into(), child_fd: REQUEST_FD },
        FdMapping { parent_fd: reply_writer.into(), child_fd: REPLY_FD },
    ];
    mappings.extend(files.into_iter().map(|(parent_fd, child_fd)| FdMapping { parent_fd, child_fd }));
    command
        .fd_mappings(mappings)
        .map_err(|error| io::Error::other(error.to_string()))?
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    die_with_parent(&mut command);
    let mut child = command.spawn()?;
    // The command still holds the parent's copies of the child's pipe ends.
    drop(command);
    let pid = Pid::from_child(&child);
    let group = Group::new(pid);

    // A child that never reads must not block us, nor one that never stops printing.
    thread::spawn(move || io::Write::write_all(&mut { request_writer }, &request));
    let replies = in_thread(move || read_all(File::from(OwnedFd::from(reply_reader))));
    let stdout = child.stdout.take().map(|stream| in_thread(move || Tail::of(stream)));
    let stderr = child.stderr.take().map(|stream| in_thread(move || Tail::of(stream)));

    let end = wait(&mut child, pid, &group, timeout)?;
    group.kill();
    let until = Instant::now() + DRAIN;
    let (frames, wire) = collect(&replies, until).unwrap_or_default();
    let output = [stdout, stderr]
        .iter()
        .flatten()
        .filter_map(|tail| collect(tail, until))
        .flat_map(Tail::into_lines)
        .collect();
    Ok(Finished { end, frames, wire, output })
}

/// The kernel kills the child when the judge dies, however it dies.
fn die_with_parent(command: &mut Command) {
    let parent = std::process::id();
    // SAFETY: between fork and exec only async-signal-safe calls are made: prctl, getppid, setrlimit.
    unsafe {
        command.pre_exec(move || {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
                return Err(io::Error::last_os_error());
            }
            // The judge may have died before the call above.
            if libc::getppid() as u32 != parent {
                return Err(io::Error::from_raw_os_error(libc::ESRCH));
            }
            let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            libc::setrlimit(libc::RLIMIT_CORE, &none);
            Ok(())
        });
    }
}

fn wait(child: &mut Child, pid: Pid, group: &Group, timeout: Duration) -> io::Result<End> {
    if let Some(status) = child.wait_timeout(timeout)? {
        return Ok(ended(status));
    }
    // The launcher's runtime answers with a line that says which kernel, block, thread and source line is running.
    let _ = kill_process(pid, Signal::USR1);
    if child.wait_timeout(GRACE)?.is_none() {
        group.kill();
        child.wait()?;
    }
    Ok(End::Deadline(timeout))
}

fn ended(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exit(code),
        (None, signal) => End::Signal(signal.unwrap_or(0)),
    }
}

/// At most this many frames are believed from one child.
const MAX_FRAMES: usize = 10_000;

fn read_all<T: DeserializeOwned>(mut stream: File) -> (Vec<T>, Option<WireError>) {
    let mut frames = Vec::new();
    while frames.len() < MAX_FRAMES {
        match wire::read(&mut stream) {
            Ok(Some(frame)) => frames.push(frame),
            Ok(None) => return (frames, None),
            Err(error) => return (frames, Some(error)),
        }
    }
    (frames, Some(WireError::TooLarge(MAX_FRAMES)))
}

/// The result of `work`, through a channel: a thread that never ends is left behind, not waited for.
fn in_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
    let (sender, receiver) = mpsc::channel();
    // The receiver may have given up.
    thread::spawn(move || drop(sender.send(work())));
    receiver
}

fn collect<T>(receiver: &Receiver<T>, until: Instant) -> Option<T> {
    match receiver.recv_timeout(until.saturating_duration_since(Instant::now())) {
        Ok(value) => Some(value),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => None,
    }
}

#[cfg(test)]
#[path = "child_tests.rs"]
mod tests;
