//! What is wrong with a value, and where in the table it is.

use std::fmt;

use serde::de::{self, Expected, Unexpected};

use super::expect;
use crate::host::suggest::did_you_mean;

/// One step into a table. Lua counts from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(i64),
}

/// Steps are added from the inside out as the error travels up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ConvertError {
    path: Vec<Step>,
    message: String,
}

impl ConvertError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { path: Vec::new(), message: message.into() }
    }

    pub(super) fn inside(mut self, step: Step) -> Self {
        self.path.push(step);
        self
    }

    /// The whole line, with the file (or call) that the value came from first.
    pub(super) fn at(&self, at: &str) -> String {
        if self.path.is_empty() { format!("{at}: {}", self.message) } else { format!("{at}: {self}") }
    }
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.path.iter().rev().enumerate() {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) if !is_word(key) => write!(f, "[{key:?}]")?,
                Step::Key(key) if i == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
            }
        }
        if !self.path.is_empty() {
            f.write_str(": ")?;
        }
        f.write_str(&self.message)
    }
}

fn is_word(key: &str) -> bool {
    !key.starts_with(|c: char| c.is_ascii_digit()) && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

impl std::error::Error for ConvertError {}

impl de::Error for ConvertError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(format!("expected {}, got {}", expect::expected(expected), expect::found(found)))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Self::new(format!("expected {}, got a list of {length}", expect::expected(expected)))
    }

    fn unknown_field(field: &str, known: &'static [&'static str]) -> Self {
        let mut message = format!("unknown key {}", quoted_key(field));
        let words = known.iter().copied().filter(|name| is_word(name));
        match did_you_mean(field, words.clone()) {
            near if !near.is_empty() => message += &near,
            _ => message += &format!("; known: {}", words.collect::<Vec<_>>().join(" ")),
        }
        Self::new(message)
    }

    fn unknown_variant(variant: &str, known: &'static [&'static str]) -> Self {
        Self::new(format!("unknown value '{variant}'; one of: {}", known.join(" ")))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(format!("missing key {}", quoted_key(field)))
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new(format!("key {} is given twice", quoted_key(field)))
    }
}

/// `'name'`, or `[1]` for a position.
fn quoted_key(key: &str) -> String {
    if key.parse::<i64>().is_ok() { format!("[{key}]") } else { format!("'{key}'") }
}
