//! What popcorn's exit status means.

use std::process::ExitCode;

/// The documented exit codes. Scripts return them by number; `popcorn.exit` names them in Lua.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// KEEP, or success.
    Keep = 0,
    /// REVERT, or a check that found a fault in what it checked.
    Revert = 1,
    /// The command line asks for something that does not exist or makes no sense.
    Usage = 2,
    /// No verdict: the measurement was unstable or inconclusive.
    NoVerdict = 3,
    /// The environment, an op or popcorn itself is at fault; nothing is said about the candidate.
    Fault = 4,
    /// Ctrl-C or SIGTERM (128 + SIGINT, as shells count).
    Interrupted = 130,
}

impl Exit {
    /// The codes that a script may return, with the names they have in Lua.
    pub const NAMED: [(&'static str, Self); 5] = [
        ("keep", Self::Keep),
        ("revert", Self::Revert),
        ("usage", Self::Usage),
        ("no_verdict", Self::NoVerdict),
        ("fault", Self::Fault),
    ];

    pub fn from_code(code: i64) -> Option<Self> {
        Self::NAMED.into_iter().map(|(_, exit)| exit).find(|exit| *exit as i64 == code)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
