//! Ctrl-C: children die, the log stays whole.

use std::io::Write;

use crate::model::Exit;

/// On SIGINT, SIGTERM or SIGHUP: kills every live child group and leaves, after a record that is just being written.
pub(super) fn install() -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(|| {
        crate::worker::kill_all();
        let _whole = crate::ledger::quiesce();
        // Nothing useful can be done when stderr is gone.
        let _ = std::io::stderr().write_all(b"popcorn: interrupted\n");
        std::process::exit(Exit::Interrupted as i32);
    })
}
