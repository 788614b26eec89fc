//! Dispatches the two child roles.

use std::process::ExitCode;

use popcorn::model::Exit;
use popcorn::worker;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("__plan") => worker::plan_main().into(),
        Some("__launch") => worker::launch_main().into(),
        _ => Exit::Usage.into(),
    }
}
