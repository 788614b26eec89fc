//! Arguments of API functions, taken as they are: mlua would turn numbers into strings and drop what is left over.

use mlua::{MultiValue, Value};

use crate::host::HostError;

/// Exactly `N` arguments (missing ones are nil); more are an error that names the call.
pub(super) fn exactly<const N: usize>(call: &str, args: MultiValue) -> Result<[Value; N], HostError> {
    if args.len() > N {
        return Err(HostError::script(format!(
            "{call} takes {N} argument{}, got {}",
            if N == 1 { "" } else { "s" },
            args.len()
        )));
    }
    let mut args = args.into_iter();
    Ok(std::array::from_fn(|_| args.next().unwrap_or(Value::Nil)))
}

/// A string argument.
pub(super) fn string(call: &str, value: &Value) -> Result<String, HostError> {
    match value {
        Value::String(text) => match text.to_str() {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err(HostError::script(format!("{call}: a string that is not UTF-8"))),
        },
        other => Err(HostError::script(format!("{call}: expected a string, got {}", other.type_name()))),
    }
}
