//! Each way in which a child can end. The children are shell scripts.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::model::{LauncherFrame, RunFailure, RunStatus, Stage};
use crate::worker::supervise::{End, Ended, Listener, supervise};
use crate::worker::wire::{self, WireError};
use crate::worker::{death, spawn};

/// Keeps every frame.
#[derive(Default)]
struct Frames(Vec<LauncherFrame>);

impl Listener for Frames {
    fn frame(&mut self, body: &[u8]) -> Result<(), WireError> {
        self.0.push(wire::decode(body)?);
        Ok(())
    }
}

const LONG: Duration = Duration::from_secs(60);

fn shell(script: &str, request: &[u8], timeout: Duration) -> Ended<Frames> {
    let mut command = Command::new("sh");
    command.arg("-c").arg(script);
    supervise(command, Vec::new(), request, Frames::default(), timeout)
}

fn failure(script: &str, timeout: Duration) -> RunFailure {
    let ended = shell(script, b"", timeout);
    death::failure("launcher", "forward", ended.end, timeout, ended.stderr_tail)
}

fn alive(pid: i32) -> bool {
    // A zombie that its new parent has not reaped yet is dead too.
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

fn gone_soon(pid: i32) -> bool {
    let start = Instant::now();
    while alive(pid) {
        if start.elapsed() > Duration::from_secs(20) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

#[test]
fn each_death_is_a_distinct_result() {
    let table = [
        ("exit 3", RunStatus::Crash, "exit:3", "exit code 3"),
        ("exit 0", RunStatus::Crash, "exit:0", "without a result"),
        ("kill -SEGV $$", RunStatus::Crash, "signal:SIGSEGV", "died of SIGSEGV in forward"),
        ("kill -ABRT $$", RunStatus::Crash, "signal:SIGABRT", "died of SIGABRT"),
        ("kill -TRAP $$", RunStatus::Crash, "signal:SIGTRAP", "died of SIGTRAP"),
        ("kill -FPE $$", RunStatus::Crash, "signal:SIGFPE", "died of SIGFPE"),
        ("kill -KILL $$", RunStatus::Crash, "signal:SIGKILL", "out-of-memory killer"),
        (
            "echo 'f.cu:3: bad write' >&2; kill -BUS $$",
            RunStatus::Crash,
            "signal:SIGBUS",
            "in forward: f.cu:3: bad write",
        ),
        ("printf garbage >&4", RunStatus::Crash, "protocol", "at most"),
        ("printf '\\001\\000\\000\\000{' >&4", RunStatus::Crash, "protocol", "not a message"),
        ("printf '\\001\\000' >&4", RunStatus::Crash, "protocol", "ended inside a frame"),
        ("printf garbage >&4; sleep 1000", RunStatus::Crash, "protocol", "at most"),
    ];
    for (script, status, reason, message) in table {
        let failure = failure(script, LONG);
        assert_eq!((failure.status, failure.reason.as_str()), (status, reason), "{script}: {failure:?}");
        assert!(failure.message.contains(message), "{script}: {failure}");
    }
}

#[test]
fn a_program_that_is_not_there_is_popcorns_fault() {
    let ended = supervise(Command::new("/nowhere/popcorn"), Vec::new(), b"", Frames::default(), LONG);
    assert!(matches!(ended.end, End::NotStarted(_)));
    let failure = death::failure("launcher", "start", ended.end, LONG, ended.stderr_tail);
    assert_eq!((failure.status, failure.reason.as_str()), (RunStatus::Error, "spawn"));
}

#[test]
fn a_hang_is_asked_where_it_is_and_then_killed() {
    let script =
        "trap 'echo \"kernel f still running: block 1, thread 2, f.cu:7\" >&2' USR1; while :; do sleep 0.01; done";
    let failure = failure(script, Duration::from_millis(300));
    assert_eq!((failure.status, failure.reason.as_str()), (RunStatus::Hang, "deadline:forward"));
    assert!(failure.message.ends_with("kernel f still running: block 1, thread 2, f.cu:7"), "{failure}");
}

#[test]
fn a_hang_that_ignores_signals_is_killed() {
    let failure = failure("trap '' USR1 TERM INT HUP; while :; do :; done", Duration::from_millis(100));
    assert_eq!(failure.reason, "deadline:forward");
}

#[test]
fn a_stopped_child_is_killed() {
    let failure = failure("kill -STOP $$", Duration::from_millis(200));
    assert_eq!(failure.reason, "deadline:forward");
}

#[test]
fn the_whole_group_dies() {
    for (script, timeout) in
        [("sleep 1000 & echo $! >&2", LONG), ("sleep 1000 & echo $! >&2; wait", Duration::from_millis(300))]
    {
        let start = Instant::now();
        let ended = shell(script, b"", timeout);
        assert!(start.elapsed() < Duration::from_secs(50), "a grandchild held the judge up");
        let pid = ended.stderr_tail[0].parse().unwrap();
        assert!(gone_soon(pid), "{script}: grandchild {pid} lives on");
    }
}

#[test]
fn a_grandchild_outside_the_group_cannot_hold_the_judge_up() {
    let start = Instant::now();
    let ended = shell("setsid sh -c 'echo $$ >&2; exec sleep 1000' & sleep 0.2; exit 0", b"", LONG);
    assert!(start.elapsed() < Duration::from_secs(50));
    assert!(matches!(ended.end, End::Exited(_)));
    let pid = rustix::process::Pid::from_raw(ended.stderr_tail[0].parse().unwrap()).unwrap();
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
}

#[test]
fn a_flood_is_bounded_to_its_last_lines() {
    let script = "head -c 200000000 /dev/zero | tr '\\0' 'x' >&2; head -c 50000000 /dev/zero; echo last >&2";
    let ended = shell(script, b"", LONG);
    assert!(matches!(ended.end, End::Exited(status) if status.success()));
    assert!(ended.stderr_tail.iter().map(String::len).sum::<usize>() < 4096);
}

#[test]
fn frames_before_a_death_are_kept() {
    let frame = wire::encode(&LauncherFrame::Stage(Stage::Backward)).unwrap();
    let octal: String = frame.iter().map(|byte| format!("\\{byte:03o}")).collect();
    let ended = shell(&format!("printf '{octal}' >&4; kill -SEGV $$"), b"", LONG);
    assert_eq!(ended.heard.0, [LauncherFrame::Stage(Stage::Backward)]);
}

#[test]
fn a_large_request_arrives_whole_and_an_unread_one_is_no_obstacle() {
    let request = vec![b'r'; 10 << 20];
    let ended = shell("wc -c <&3 >&2", &request, LONG);
    assert_eq!(ended.stderr_tail, [(10 << 20).to_string()]);
    let ended = shell("exit 5", &request, LONG);
    assert!(matches!(ended.end, End::Exited(status) if status.code() == Some(5)));
    let ended = shell("exec 3<&-; sleep 0.1; exit 6", &request, LONG);
    assert!(matches!(ended.end, End::Exited(status) if status.code() == Some(6)));
}

#[test]
fn nothing_but_the_pipes_is_inherited() {
    // A descriptor without close-on-exec, as a careless shell leaves one open.
    let stray = fs::File::open("/dev/null").unwrap();
    let stray = rustix::io::fcntl_dupfd_cloexec(&stray, 50).unwrap();
    rustix::io::fcntl_setfd(&stray, rustix::io::FdFlags::empty()).unwrap();
    let ended = shell("exec ls /proc/self/fd >&2", b"", LONG);
    // `ls` itself opens one more, for the folder.
    let fds: Vec<i32> = ended.stderr_tail.iter().filter_map(|line| line.parse().ok()).collect();
    assert!(fds.len() <= 6 && fds.iter().all(|fd| *fd <= 5), "{fds:?}");
}

#[test]
fn children_leave_no_core_and_no_zombie() {
    let ended = shell("ulimit -c >&2; echo $$ >&2", b"", LONG);
    assert_eq!(ended.stderr_tail[0], "0");
    let pid: i32 = ended.stderr_tail[1].parse().unwrap();
    assert!(!fs::exists(format!("/proc/{pid}")).unwrap());
}

#[test]
fn stdin_is_empty() {
    let ended = shell("wc -c >&2", b"", LONG);
    assert_eq!(ended.stderr_tail, ["0"]);
}

#[test]
fn fixed_descriptors_need_a_judge() {
    assert!(spawn::take_fd(9_999).unwrap_err().contains("started by popcorn itself"));
}
