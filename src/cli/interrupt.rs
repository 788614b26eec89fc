//! Ctrl-C: children die, the log stays whole.

use std::sync::atomic::{AtomicBool, Ordering};

use super::Exit;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// On SIGINT, SIGTERM or SIGHUP: kills every live child group and leaves. A record is one write under a lock, so
/// there is nothing to undo: it is either in the log or not.
pub(super) fn install() -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            return;
        }
        crate::worker::kill_all();
        // Nothing useful can be done when stderr is gone.
        let _ = std::io::Write::write_all(&mut std::io::stderr(), b"popcorn: interrupted; nothing was recorded\n");
        std::process::exit(Exit::Interrupted as i32);
    })
}
