//! Arguments of API functions, taken as they are: mlua would turn numbers into strings and drop what is left over.

use mlua::{IntoLua, Lua, MultiValue, Value};

use super::tensor::LuaTensor;
use crate::host::HostError;
use crate::truth::Tensor;

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

/// The tensor in a Lua value, if it is one.
pub(crate) fn tensor_from_lua(value: &Value) -> Option<Tensor> {
    let tensor = value.as_userdata()?.borrow::<LuaTensor>().ok()?;
    Some(tensor.0.clone())
}

/// A tensor as a Lua value.
pub(crate) fn tensor_to_lua(lua: &Lua, tensor: Tensor) -> mlua::Result<Value> {
    LuaTensor::new(tensor).into_lua(lua)
}
