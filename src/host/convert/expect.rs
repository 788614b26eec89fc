//! Lua's words for what serde expected and found.

use serde::de::{Expected, Unexpected};

/// Longest string value that a message repeats.
const SHOWN: usize = 60;

pub(super) fn found(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(value) => format!("boolean {value}"),
        Unexpected::Unsigned(value) => format!("integer {value}"),
        Unexpected::Signed(value) => format!("integer {value}"),
        Unexpected::Float(value) => format!("number {}", crate::case::python_float(value)),
        Unexpected::Char(value) => format!("string {:?}", value.to_string()),
        Unexpected::Str(value) if value.chars().count() > SHOWN => {
            format!("string {:?}…", value.chars().take(SHOWN).collect::<String>())
        }
        Unexpected::Str(value) => format!("string {value:?}"),
        Unexpected::Unit | Unexpected::Option => "nil".to_owned(),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a table".to_owned(),
        Unexpected::Other(what) => what.to_owned(),
        other => other.to_string(),
    }
}

pub(super) fn expected(expected: &dyn Expected) -> String {
    let words = expected.to_string();
    match words.as_str() {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number of at least 0".to_owned(),
        "i8" | "i16" | "i32" | "i64" | "isize" => "an integer".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => "a table".to_owned(),
        "path string" => "a string".to_owned(),
        _ if words.starts_with("struct ") => "a table".to_owned(),
        _ => words,
    }
}
