//! The text form of a case: `normalized_shape=4096,batch=(64,),bfloat16,eps=1e-05,+bias`.

use std::fmt;
use std::str::FromStr;

use crate::model::{Case, CaseParseError, DType, Scalar};

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, extent) in &self.dims {
            write!(f, "{name}={extent},")?;
        }
        f.write_str("batch=(")?;
        for (i, extent) in self.batch.iter().enumerate() {
            write!(f, "{}{extent}", if i == 0 { "" } else { ", " })?;
        }
        // Python's tuple of one element keeps a comma.
        f.write_str(if self.batch.len() == 1 { ",)" } else { ")" })?;
        write!(f, ",{}", self.dtype)?;
        for (name, value) in &self.args {
            write!(f, ",{name}={value}")?;
        }
        self.present.iter().try_for_each(|name| write!(f, ",+{name}"))
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Bool(true) => f.write_str("True"),
            Self::Bool(false) => f.write_str("False"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => f.write_str(&python_float(*value)),
            Self::Str(value) => f.write_str(value),
            Self::Ints(values) => {
                f.write_str("[")?;
                for (i, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if i == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
        }
    }
}

/// A float as Python's `repr` writes it: shortest digits that round-trip, `.0` on whole numbers, exponent form below
/// 1e-4 and from 1e16 on, exponent of at least two digits.
pub fn python_float(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        let plain = format!("{value}");
        if plain.contains('.') { plain } else { plain + ".0" }
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{mantissa}e{sign}{:02}", exponent.abs())
    }
}

/// Reads a scalar as Python's text form spells it: `None`, `True`, `False`, an integer, a float, a list of integers,
/// else a string.
pub fn parse_scalar(text: &str) -> Scalar {
    match text {
        "None" => return Scalar::None,
        "True" => return Scalar::Bool(true),
        "False" => return Scalar::Bool(false),
        _ => {}
    }
    let starts_as_number = text.trim_start_matches(['-', '+']).starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if starts_as_number {
        if let Ok(value) = text.parse() {
            return Scalar::Int(value);
        }
        if let Ok(value) = text.parse() {
            return Scalar::Float(value);
        }
    }
    if let Some(list) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'))
        && let Ok(values) = list.split(',').map(|value| value.trim().parse()).collect()
    {
        return Scalar::Ints(values);
    }
    Scalar::Str(text.to_owned())
}

/// A case specification split into words, not yet checked against an op.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// `name=value` words in the order given.
    pub assignments: Vec<(String, String)>,
    /// `batch=(…)`, if given.
    pub batch: Option<Vec<u64>>,
    pub dtype: Option<DType>,
    /// `+name` words.
    pub present: Vec<String>,
}

impl FromStr for Words {
    type Err = CaseParseError;

    fn from_str(spec: &str) -> Result<Self, Self::Err> {
        let fail = |message: String| CaseParseError { spec: spec.to_owned(), message };
        let mut words = Self::default();
        for word in split_outside_brackets(spec).map_err(fail)? {
            if word.is_empty() {
                return Err(fail("empty word between commas".to_owned()));
            } else if let Some(name) = word.strip_prefix('+') {
                if words.present.iter().any(|other| other == name) {
                    return Err(fail(format!("'+{name}' is given twice")));
                }
                words.present.push(name.to_owned());
            } else if let Some(extents) = word.strip_prefix("batch=(") {
                if words.batch.is_some() {
                    return Err(fail("'batch=(…)' is given twice".to_owned()));
                }
                let extents = extents.strip_suffix(')').unwrap_or(extents);
                words.batch = Some(parse_extents(extents).map_err(fail)?);
            } else if let Some((name, value)) = word.split_once('=') {
                if words.assignments.iter().any(|(other, _)| other == name) {
                    return Err(fail(format!("'{name}' is given twice")));
                }
                words.assignments.push((name.trim().to_owned(), value.trim().to_owned()));
            } else {
                let dtype = word.parse().map_err(|_| {
                    fail(format!("'{word}' is neither name=value, nor +optional, nor a dtype (float32, bfloat16, …)"))
                })?;
                if words.dtype.is_some() {
                    return Err(fail(format!("a second dtype, '{word}'")));
                }
                words.dtype = Some(dtype);
            }
        }
        Ok(words)
    }
}

fn parse_extents(text: &str) -> Result<Vec<u64>, String> {
    let text = text.trim();
    let text = text.strip_suffix(',').unwrap_or(text).trim();
    if text.is_empty() {
        return Ok(Vec::new());
    }
    text.split(',')
        .map(|extent| {
            let extent = extent.trim();
            extent.parse().map_err(|_| format!("batch extent '{extent}' is not a whole number"))
        })
        .collect()
}

/// Words between the commas that are in no `(…)` and no `[…]`.
fn split_outside_brackets(spec: &str) -> Result<Vec<&str>, String> {
    let mut words = Vec::new();
    let mut open = Vec::new();
    let mut start = 0;
    for (at, c) in spec.char_indices() {
        match c {
            '(' | '[' => open.push(c),
            ')' | ']' => {
                let opening = if c == ')' { '(' } else { '[' };
                if open.pop() != Some(opening) {
                    return Err(format!("'{c}' without '{opening}'"));
                }
            }
            ',' if open.is_empty() => {
                words.push(spec[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    if let Some(opening) = open.pop() {
        return Err(format!("'{opening}' without '{}'", if opening == '(' { ')' } else { ']' }));
    }
    words.push(spec[start..].trim());
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_print_as_python_repr() {
        let table = [
            (1e-5, "1e-05"),
            (1e-6, "1e-06"),
            (1e-4, "0.0001"),
            (0.1, "0.1"),
            (1.0, "1.0"),
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (-5.0, "-5.0"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.5e300, "1.5e+300"),
            (1.25e-7, "1.25e-07"),
            (123_456_789.125, "123456789.125"),
            (5e-324, "5e-324"),
            (f64::NAN, "nan"),
            (f64::NEG_INFINITY, "-inf"),
        ];
        for (value, text) in table {
            assert_eq!(python_float(value), text);
        }
    }

    #[test]
    fn cases_print_dims_batch_dtype_args_and_presence_in_that_order() {
        let mut case = Case {
            dims: [("normalized_shape".to_owned(), 4096)].into(),
            batch: vec![64],
            dtype: DType::BF16,
            args: [("eps".to_owned(), Scalar::Float(1e-5)), ("mode".to_owned(), Scalar::None)].into(),
            present: ["bias".to_owned()].into(),
        };
        assert_eq!(case.to_string(), "normalized_shape=4096,batch=(64,),bfloat16,eps=1e-05,mode=None,+bias");
        case.batch = vec![];
        case.args = [("activation".to_owned(), Scalar::Str(String::new()))].into();
        assert_eq!(case.to_string(), "normalized_shape=4096,batch=(),bfloat16,activation=,+bias");
        case.batch = vec![2, 3];
        assert_eq!(case.to_string(), "normalized_shape=4096,batch=(2, 3),bfloat16,activation=,+bias");
    }

    #[test]
    fn words_come_in_any_order_and_batch_may_be_a_dim_too() {
        let words: Words = "+bias, float16,batch=2 ,eps=1e-05,batch=(4, 8)".parse().unwrap();
        assert_eq!(words.assignments, [("batch".into(), "2".into()), ("eps".into(), "1e-05".into())]);
        assert_eq!((words.batch, words.dtype), (Some(vec![4, 8]), Some(DType::F16)));
        assert_eq!(words.present, ["bias"]);
        let words: Words = "hidden=8,batch=(),float32,activation=".parse().unwrap();
        assert_eq!(words.batch, Some(vec![]));
        assert_eq!(words.assignments[1], ("activation".into(), String::new()));
        let words: Words = "section=[8, 4, 4],hidden=8,float32".parse().unwrap();
        assert_eq!(words.assignments[0], ("section".into(), "[8, 4, 4]".into()));
    }

    #[test]
    fn malformed_specifications_say_which_word_is_wrong() {
        let table = [
            ("", "empty word"),
            ("a=1,,float32", "empty word"),
            ("a=1,a=2", "'a' is given twice"),
            ("+b,+b", "'+b' is given twice"),
            ("float32,float16", "second dtype"),
            ("float23", "'float23' is neither"),
            ("batch=(1,x)", "batch extent 'x'"),
            ("batch=(-1)", "batch extent '-1'"),
            ("batch=(1", "'(' without ')'"),
            ("a)", "')' without '('"),
            ("a=[1,2", "'[' without ']'"),
            ("a=(1]", "']' without '['"),
            ("batch=(1),batch=(2)", "given twice"),
        ];
        for (spec, part) in table {
            let message = spec.parse::<Words>().unwrap_err().to_string();
            assert!(message.contains(part), "{spec}: {message}");
        }
    }

    #[test]
    fn scalars_are_read_back_as_they_print() {
        for scalar in [
            Scalar::None,
            Scalar::Bool(true),
            Scalar::Int(-100),
            Scalar::Float(1e-5),
            Scalar::Float(-5.0),
            Scalar::Str(String::new()),
            Scalar::Str("tanh".into()),
            Scalar::Str("nan".into()),
            Scalar::Ints(vec![8, -4, 4]),
        ] {
            assert_eq!(parse_scalar(&scalar.to_string()), scalar);
        }
    }
}
