//! Errors of the planner: raised through Lua without losing their kind, told in one line.

use mlua::Lua;

use crate::model::{PlanError, PlanErrorKind};

/// The candidate's `file:line` that is being executed; the file alone after a tail call.
pub(super) fn location(lua: &Lua, file: &str) -> String {
    let at = |level| {
        lua.inspect_stack(level, |debug| {
            let line = debug.current_line()?;
            let source = debug.source().source?;
            Some(format!("{}:{line}", source.strip_prefix('@').unwrap_or(&source)))
        })
    };
    let mut level = 0;
    while let Some(found) = at(level) {
        if let Some(text) = found {
            return text;
        }
        level += 1;
    }
    file.to_owned()
}

/// An error that crosses Lua with its kind.
pub(super) fn raise(kind: PlanErrorKind, message: String) -> mlua::Error {
    mlua::Error::external(PlanError { kind, message, detail: String::new() })
}

pub(super) fn candidate(message: String) -> PlanError {
    PlanError { kind: PlanErrorKind::Candidate, message, detail: String::new() }
}

/// What Lua reports, as one line with a detail; `file` names the candidate where the error has no place of its own.
pub(super) fn from_lua(error: &mlua::Error, file: &str) -> PlanError {
    match error {
        mlua::Error::CallbackError { cause, traceback } => {
            let mut inner = from_lua(cause, file);
            if inner.detail.is_empty() {
                inner.detail = traceback.clone();
            }
            inner
        }
        mlua::Error::WithContext { cause, .. } => from_lua(cause, file),
        mlua::Error::ExternalError(cause) => match cause.downcast_ref::<PlanError>() {
            Some(error) => error.clone(),
            None => candidate(format!("{file}: {cause}")),
        },
        mlua::Error::MemoryError(_) => {
            candidate(format!("{file}: needs more than {} MiB of Lua memory", super::limits::LUA_BYTES >> 20))
        }
        mlua::Error::SyntaxError { message, .. } | mlua::Error::RuntimeError(message) => {
            let (text, trace) = message.split_once("\nstack traceback:").unwrap_or((message, ""));
            let line = text.lines().next().unwrap_or_default();
            let line = if line.starts_with(file) { line.to_owned() } else { format!("{file}: {line}") };
            let more = if text.lines().nth(1).is_some() { text } else { trace };
            PlanError { kind: PlanErrorKind::Candidate, message: line, detail: more.trim().to_owned() }
        }
        other => candidate(format!("{file}: {}", other.to_string().lines().next().unwrap_or_default())),
    }
}

/// ` (did you mean 'x'?)`, else the list of what there is.
pub(super) fn suggest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let best = known.iter().map(|name| (strsim::damerau_levenshtein(word, name), *name)).min();
    match best {
        Some((distance, name)) if distance <= 1 + word.len() / 3 => format!("; did you mean '{name}'?"),
        Some(_) => format!("; there is: {}", known.join(" ")),
        None => String::new(),
    }
}

/// `nil`, `integer 3`, `string "x"`: what a value is, for messages.
pub(super) fn describe(value: &mlua::Value) -> String {
    match value {
        mlua::Value::Nil => "nil".to_owned(),
        mlua::Value::Boolean(value) => format!("boolean {value}"),
        mlua::Value::Integer(value) => format!("integer {value}"),
        mlua::Value::Number(value) => format!("float {value:?}"),
        mlua::Value::String(text) => {
            let text = text.to_string_lossy();
            let short: String = text.chars().take(40).collect();
            format!("string {short:?}")
        }
        mlua::Value::UserData(data) => match data.borrow::<super::tensor::Tensor>() {
            Ok(tensor) => format!("tensor {}", tensor.describe()),
            Err(_) => data.type_name().map_or_else(|_| "userdata".to_owned(), |name| name.to_string_lossy()),
        },
        other => other.type_name().to_owned(),
    }
}
