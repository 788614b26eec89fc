//! What kind of number an element is. Classes must agree before an error is worth computing.

use std::fmt;

use serde::Serialize;

/// Finite, infinite with sign, or NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    Finite,
    PlusInf,
    MinusInf,
    Nan,
}

impl Class {
    pub fn of(value: f64) -> Self {
        if value.is_nan() {
            Self::Nan
        } else if value == f64::INFINITY {
            Self::PlusInf
        } else if value == f64::NEG_INFINITY {
            Self::MinusInf
        } else {
            Self::Finite
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Finite => "finite",
            Self::PlusInf => "+inf",
            Self::MinusInf => "-inf",
            Self::Nan => "nan",
        })
    }
}
