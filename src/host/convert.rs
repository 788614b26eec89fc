//! Strict conversion of Lua values into typed Rust: unknown keys, wrong types and lists that are not lists are errors
//! with the path, the value found and a suggestion. Nothing is coerced.

mod deserializer;
mod error;
mod expect;

use std::cell::RefCell;
use std::fmt;

use mlua::serde::SerializeOptions;
use mlua::{Function, Lua, LuaSerdeExt, Value};
use serde::de::{DeserializeOwned, Deserializer, Visitor};
use serde::{Deserialize, Serialize};

use super::HostError;
use deserializer::LuaDeserializer;

/// Converts `value`; errors read `at: path: expected …, got …`.
pub fn from_lua<T: DeserializeOwned>(value: &Value, at: &str) -> Result<T, HostError> {
    T::deserialize(LuaDeserializer::new(value, None)).map_err(|error| HostError::script(error.at(at)))
}

/// As [`from_lua`], for types with [`FunctionRef`] fields: the functions come beside the value, by index.
pub fn from_lua_with_functions<T: DeserializeOwned>(value: &Value, at: &str) -> Result<(T, Vec<Function>), HostError> {
    let functions = RefCell::new(Vec::new());
    let typed = T::deserialize(LuaDeserializer::new(value, Some(&functions)));
    let typed = typed.map_err(|error| HostError::script(error.at(at)))?;
    Ok((typed, functions.into_inner()))
}

/// A typed value as Lua sees it: `None` is nil, lists are sequences.
pub fn to_lua<T: Serialize + ?Sized>(lua: &Lua, value: &T) -> Result<Value, HostError> {
    let options = SerializeOptions::new().serialize_none_to_null(false).serialize_unit_to_null(false);
    Ok(lua.to_value_with(value, options)?)
}

/// A Lua function inside a converted table: an index into the functions that came with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionRef(pub usize);

/// Tells the deserializer that a function is wanted.
const FUNCTION: &str = "$lua function";

impl<'de> Deserialize<'de> for FunctionRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Index;
        impl Visitor<'_> for Index {
            type Value = FunctionRef;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a function")
            }
            fn visit_u64<E>(self, index: u64) -> Result<FunctionRef, E> {
                Ok(FunctionRef(index as usize))
            }
        }
        deserializer.deserialize_newtype_struct(FUNCTION, Index)
    }
}

/// Either a list of `T` or a function that makes one.
#[derive(Clone, Debug, PartialEq)]
pub enum ListOrFunction<T> {
    List(Vec<T>),
    Function(FunctionRef),
}

/// Tells the deserializer that a function or else a list is wanted.
const LIST_OR_FUNCTION: &str = "$lua list or function";

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ListOrFunction<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Either<T> {
            type Value = ListOrFunction<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list or a function")
            }
            fn visit_u64<E>(self, index: u64) -> Result<Self::Value, E> {
                Ok(ListOrFunction::Function(FunctionRef(index as usize)))
            }
            fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
                Vec::deserialize(deserializer).map(ListOrFunction::List)
            }
        }
        deserializer.deserialize_newtype_struct(LIST_OR_FUNCTION, Either(std::marker::PhantomData))
    }
}

#[cfg(test)]
mod tests;
