//! Feeds a child its request, collects its frames and its last lines, and ends it at the deadline.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::pipe::{PipeFlags, pipe_with};
use wait_timeout::ChildExt;

use super::groups::Group;
use super::spawn::{Spawned, spawn};
use super::tail::Tail;
use super::wire::{Frames, WireError};

/// Time for the child to say where it is after SIGUSR1.
const GRACE: Duration = Duration::from_millis(200);
/// Most that is read from one stream after the child's death: what a pipe can hold (1 MiB is the largest a user may set).
const DRAIN_BYTES: usize = 1 << 20;

/// How a child ended and what it said.
pub(super) struct Ended<T> {
    pub(super) end: End,
    /// What the frame handler made of the frames.
    pub(super) heard: T,
    pub(super) stderr_tail: Vec<String>,
}

#[derive(Debug)]
pub(super) enum End {
    Exited(ExitStatus),
    /// Killed at the deadline.
    Deadline,
    /// Killed because of what it sent.
    Protocol(String),
    /// Never ran.
    NotStarted(io::Error),
}

/// Takes one frame's body; an error is a violation of the protocol.
pub(super) trait Listener: Send {
    fn frame(&mut self, body: &[u8]) -> Result<(), WireError>;
}

/// Runs `command` to its end, at most `timeout`. Always reaps; nothing of its group survives.
pub(super) fn supervise<T: Listener>(
    command: Command,
    files: Vec<OwnedFd>,
    request: &[u8],
    mut listener: T,
    timeout: Duration,
) -> Ended<T> {
    let deadline = Instant::now() + timeout;
    let started = spawn(command, files).and_then(|spawned| Ok((spawned, pipe_with(PipeFlags::CLOEXEC)?)));
    let (Spawned { mut child, request: to, reply, stdout, stderr }, (stop, stopper)) = match started {
        Ok(started) => started,
        Err(error) => return Ended { end: End::NotStarted(error), heard: listener, stderr_tail: Vec::new() },
    };
    let group = Group::new(child.id());
    thread::scope(|scope| {
        let group = &group;
        let pump = scope.spawn(move || {
            let mut pump =
                Pump { to: Some(to), request, reply: Some(reply), frames: Frames::default(), listener: &mut listener };
            let mut tails = [(Some(stdout), Tail::default()), (Some(stderr), Tail::default())];
            let result = pump.run(&mut tails, &stop);
            if result.is_err() {
                group.kill();
            }
            let [(_, out), (_, err)] = tails;
            let lines = err.finish();
            (result, if lines.is_empty() { out.finish() } else { lines }, listener)
        });
        let mut expired = false;
        let mut status = child.wait_timeout(deadline.saturating_duration_since(Instant::now()));
        if let Ok(None) = status {
            expired = true;
            group.ask();
            status = child.wait_timeout(GRACE);
        }
        group.kill();
        let status = match status {
            Ok(Some(status)) => Ok(status),
            _ => child.wait(),
        };
        drop(stopper);
        let (result, stderr_tail, heard) = match pump.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        let end = match (result, status) {
            (Err(error), _) => End::Protocol(error.to_string()),
            (Ok(()), _) if expired => End::Deadline,
            (Ok(()), Ok(status)) => End::Exited(status),
            (Ok(()), Err(error)) => End::NotStarted(error),
        };
        Ended { end, heard, stderr_tail }
    })
}

/// One thread moves all bytes of a child.
struct Pump<'a, T> {
    to: Option<File>,
    request: &'a [u8],
    reply: Option<File>,
    frames: Frames,
    listener: &'a mut T,
}

impl<T: Listener> Pump<'_, T> {
    /// Runs until `stop` is closed (the child is dead), then takes what the pipes still hold. A grandchild that left the
    /// group and keeps a pipe open cannot hold this up.
    fn run(&mut self, tails: &mut [(Option<File>, Tail); 2], stop: &OwnedFd) -> Result<(), WireError> {
        let streams = [&self.to, &self.reply, &tails[0].0, &tails[1].0];
        for stream in streams.into_iter().flatten() {
            fcntl_setfl(stream, fcntl_getfl(stream).map_err(io::Error::from)? | OFlags::NONBLOCK)
                .map_err(io::Error::from)?;
        }
        let mut buffer = vec![0; 64 << 10];
        loop {
            let mut fds = vec![PollFd::new(stop, PollFlags::empty())];
            let sources = [&self.reply, &tails[0].0, &tails[1].0];
            fds.extend(sources.into_iter().flatten().map(|file| PollFd::from_borrowed_fd(file.as_fd(), PollFlags::IN)));
            fds.extend(self.to.iter().map(|file| PollFd::new(file, PollFlags::OUT)));
            match poll(&mut fds, None) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(io::Error::from(error).into()),
            }
            let stopped = !fds[0].revents().is_empty();
            drop(fds);
            self.write();
            let rounds = if stopped { DRAIN_BYTES / buffer.len() } else { 1 };
            for _ in 0..rounds {
                for (source, tail) in tails.iter_mut() {
                    read(source, &mut buffer, |bytes| tail.push(bytes));
                }
                let frames = &mut self.frames;
                read(&mut self.reply, &mut buffer, |bytes| frames.push(bytes));
                while let Some(frame) = self.frames.next()? {
                    self.listener.frame(&frame)?;
                }
            }
            if stopped {
                return self.frames.finish();
            }
        }
    }

    /// Writes what fits. A child that does not read its request says so by how it ends.
    fn write(&mut self) {
        let Some(to) = &mut self.to else { return };
        match to.write(self.request) {
            Ok(count) => self.request = &self.request[count..],
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(_) => self.request = &[],
        }
        if self.request.is_empty() {
            self.to = None;
        }
    }
}

/// Reads once without waiting; a stream that has ended is closed.
fn read(source: &mut Option<File>, buffer: &mut [u8], mut take: impl FnMut(&[u8])) {
    let Some(file) = source else { return };
    match file.read(buffer) {
        Ok(0) => *source = None,
        Ok(count) => take(&buffer[..count]),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
        Err(_) => *source = None,
    }
}
