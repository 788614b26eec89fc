//! Errors of the host: one line that names file, line, object and next step, with the rest kept apart.

use mlua::Error as LuaError;

/// What went wrong in a script, an op file or the workspace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct HostError {
    pub kind: HostErrorKind,
    /// One line, `file:line: …` first where there is a place.
    pub message: String,
    /// The Lua traceback or a compiler's own words; may be empty.
    pub detail: String,
}

/// Whose fault an error is; decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostErrorKind {
    /// The caller asked for something that does not exist: an unknown op, a malformed case.
    Usage,
    /// A Lua file is wrong: syntax, an unknown key, a raised error, a reference of the wrong shape.
    Script,
    /// The machine or the workspace: a file that cannot be read, a folder that cannot be written.
    Environment,
}

impl HostError {
    pub fn usage(message: impl Into<String>) -> Self {
        Self { kind: HostErrorKind::Usage, message: message.into(), detail: String::new() }
    }

    pub fn script(message: impl Into<String>) -> Self {
        Self { kind: HostErrorKind::Script, message: message.into(), detail: String::new() }
    }

    pub fn environment(message: impl Into<String>) -> Self {
        Self { kind: HostErrorKind::Environment, message: message.into(), detail: String::new() }
    }
}

/// An error on its way through Lua comes back as itself; anything else that Lua raises is a script error. A message
/// without a place gets the line of Lua that called into popcorn.
impl From<LuaError> for HostError {
    fn from(error: LuaError) -> Self {
        let mut place = None;
        let mut detail = String::new();
        let mut cause = &error;
        loop {
            match cause {
                LuaError::CallbackError { traceback, cause: inner } => {
                    // The innermost traceback is nearest to the fault.
                    place = first_place(traceback).or(place);
                    detail.clone_from(traceback);
                    cause = inner;
                }
                LuaError::WithContext { cause: inner, .. } => cause = inner,
                _ => break,
            }
        }
        if let LuaError::ExternalError(external) = cause
            && let Some(host) = external.downcast_ref::<Self>()
        {
            let mut host = host.clone();
            if host.kind == HostErrorKind::Script && !has_place(&host.message) {
                host.message = with_place(place, &host.message);
            }
            if host.detail.is_empty() {
                host.detail = detail;
            }
            return host;
        }
        let text = match cause {
            LuaError::SyntaxError { message, .. } | LuaError::RuntimeError(message) => message.clone(),
            LuaError::MemoryError(_) => "the Lua VM's memory limit was reached".to_owned(),
            other => other.to_string(),
        };
        let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
        let message = if has_place(first) { first.to_owned() } else { with_place(place, first) };
        Self { kind: HostErrorKind::Script, message, detail: if rest.is_empty() { detail } else { rest.to_owned() } }
    }
}

impl From<HostError> for LuaError {
    fn from(error: HostError) -> Self {
        Self::external(error)
    }
}

/// Chunk name of the code that prepares a VM.
pub(super) const PRELUDE: &str = "popcorn prelude";
/// Chunk name of the helpers that mlua itself runs in Lua.
const MLUA: &str = "__mlua";

fn with_place(place: Option<String>, message: &str) -> String {
    match place {
        Some(place) => format!("{place}: {message}"),
        None => message.to_owned(),
    }
}

/// `file:line` of the topmost frame of a traceback that is Lua of the user's (not C, not popcorn's own prelude).
fn first_place(traceback: &str) -> Option<String> {
    traceback.lines().find_map(|frame| {
        let place = frame.trim_start().split(": in ").next()?;
        (has_line(place) && !place.starts_with('[') && !place.starts_with(PRELUDE) && !place.starts_with(MLUA))
            .then(|| place.to_owned())
    })
}

/// Whether a message starts with `file:line:` or `file.lua:`.
fn has_place(message: &str) -> bool {
    let head = message.split(": ").next().unwrap_or("");
    has_line(head) || head.ends_with(".lua")
}

fn has_line(place: &str) -> bool {
    place.rsplit_once(':').is_some_and(|(_, line)| !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit()))
}
