use super::*;
use crate::model::{LauncherFrame, Stage};

fn shell(script: &str, timeout: f64) -> Finished<LauncherFrame> {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    run(command, Vec::new(), Vec::new(), Duration::from_secs_f64(timeout)).unwrap()
}

/// A frame as `printf` takes it.
fn frame(stage: Stage) -> String {
    let mut bytes = Vec::new();
    wire::write(&mut bytes, &LauncherFrame::Stage(stage)).unwrap();
    bytes.iter().map(|byte| format!("\\{byte:03o}")).collect()
}

#[test]
fn each_way_to_die_is_told_apart() {
    assert_eq!(shell("exit 0", 10.0).end, End::Exit(0));
    assert_eq!(shell("exit 70", 10.0).end, End::Exit(70));
    assert_eq!(shell("kill -SEGV $$", 10.0).end, End::Signal(libc::SIGSEGV));
    assert_eq!(shell("kill -KILL $$", 10.0).end, End::Signal(libc::SIGKILL));
    assert!(matches!(shell("trap '' USR1; sleep 60", 0.2).end, End::Deadline(_)));
}

#[test]
fn frames_and_output_arrive_whatever_the_end() {
    let script = format!("printf '{}' >&4; echo said >&2; echo out; exit 3", frame(Stage::Forward));
    let done = shell(&script, 10.0);
    assert_eq!(done.frames, [LauncherFrame::Stage(Stage::Forward)]);
    assert_eq!(done.output, ["out", "said"]);
    assert!(done.wire.is_none());
    let script = format!("printf '{}' >&4; printf garbage >&4", frame(Stage::Load));
    let done = shell(&script, 10.0);
    assert_eq!((done.frames.len(), done.wire.is_some()), (1, true));
}

#[test]
fn a_flood_of_output_is_bounded_and_does_not_block() {
    let done = shell("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; exit 1", 60.0);
    assert_eq!(done.end, End::Exit(1));
    assert_eq!(done.output.last().map(String::as_str), Some("line 19999"));
    assert_eq!(done.output.len(), 8);
}

#[test]
fn grandchildren_are_killed_and_do_not_hold_us() {
    let start = Instant::now();
    let done = shell("sleep 300 & echo $!; exit 0", 10.0);
    assert_eq!(done.end, End::Exit(0));
    assert!(start.elapsed() < Duration::from_secs(60));
    let grandchild: i32 = done.output[0].parse().unwrap();
    let gone = (0..200).any(|_| {
        thread::sleep(Duration::from_millis(10));
        // SAFETY: signal 0 only asks whether the process exists.
        let alive = unsafe { libc::kill(grandchild, 0) } == 0;
        let zombie = std::fs::read_to_string(format!("/proc/{grandchild}/stat")).is_ok_and(|stat| stat.contains(") Z"));
        !alive || zombie
    });
    assert!(gone, "process {grandchild} lives on");
}

#[test]
fn only_the_given_files_are_inherited() {
    let done = shell("ls /proc/self/fd | tr '\\n' ' '", 10.0);
    let open: Vec<&str> = done.output[0].split(' ').filter(|fd| !fd.is_empty()).collect();
    // 0-4 are ours; `ls` itself opens one more to list the folder.
    assert!(open.len() <= 6, "{open:?}");
}

#[test]
fn a_request_that_nobody_reads_does_not_block() {
    let mut command = Command::new("sh");
    command.args(["-c", "exit 5"]);
    let done = run::<LauncherFrame>(command, vec![0; 4 << 20], Vec::new(), Duration::from_secs(10)).unwrap();
    assert_eq!(done.end, End::Exit(5));
}

#[test]
fn a_program_that_is_not_there_is_an_io_error() {
    let missing = Command::new("/nonexistent/popcorn");
    assert!(run::<LauncherFrame>(missing, Vec::new(), Vec::new(), Duration::from_secs(1)).is_err());
}
