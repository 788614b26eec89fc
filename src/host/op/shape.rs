//! Types of tensors in op files: `float[..., normalized_shape]`, `int64[tokens]`, `float32[]`.

use std::fmt;
use std::str::FromStr;

use crate::model::{Case, DType, Scalar};

/// Element type and extents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeSpec {
    pub element: Element,
    pub shape: Vec<Extent>,
}

/// `float` is the case's dtype; any other name is that dtype at every case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    CaseFloat,
    Fixed(DType),
}

/// One word between the brackets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    /// `...`: the case's leading extents, any number of them.
    Batch,
    Constant(u64),
    Dim(String),
    /// `name+k`, `name-k`, `name*k` or `name/k` (exact division).
    Derived {
        dim: String,
        operator: char,
        constant: u64,
    },
    /// `name*argument`: as many times the dim as an integer argument of the case says.
    Repeated {
        dim: String,
        argument: String,
    },
}

impl Element {
    pub fn is_float(self) -> bool {
        match self {
            Self::CaseFloat => true,
            Self::Fixed(dtype) => dtype.is_float(),
        }
    }

    /// The dtype at a case's dtype. In a float64 case (and so for truth) every float is float64.
    pub fn at(self, case: DType) -> DType {
        match self {
            Self::CaseFloat => case,
            Self::Fixed(dtype) if dtype.is_float() && case == DType::F64 => case,
            Self::Fixed(dtype) => dtype,
        }
    }
}

impl TypeSpec {
    /// Names of the dims it mentions.
    pub fn dims(&self) -> impl Iterator<Item = &str> {
        self.shape.iter().filter_map(Extent::dim)
    }

    pub fn has_batch(&self) -> bool {
        self.shape.contains(&Extent::Batch)
    }

    /// Extents at a case.
    pub fn extents(&self, case: &Case) -> Result<Vec<u64>, String> {
        let mut extents = Vec::new();
        for extent in &self.shape {
            match extent {
                Extent::Batch => extents.extend(&case.batch),
                other => extents.push(other.value(case)?),
            }
        }
        let numel = extents.iter().try_fold(1_u64, |product, &extent| product.checked_mul(extent));
        match numel {
            Some(numel) if numel <= 1 << 48 => Ok(extents),
            _ => Err(format!("{self} has too many elements at {case}")),
        }
    }
}

impl Extent {
    fn dim(&self) -> Option<&str> {
        match self {
            Self::Dim(dim) | Self::Derived { dim, .. } | Self::Repeated { dim, .. } => Some(dim),
            Self::Batch | Self::Constant(_) => None,
        }
    }

    /// The argument that it depends on.
    pub(super) fn argument(&self) -> Option<&str> {
        match self {
            Self::Repeated { argument, .. } => Some(argument),
            _ => None,
        }
    }

    /// The extent at a case; not for `...`, which is a list.
    pub(super) fn value(&self, case: &Case) -> Result<u64, String> {
        let dim = |name: &String| case.dims.get(name).copied().ok_or_else(|| format!("unknown dim '{name}'"));
        match self {
            Self::Batch => Err("'...' stands for a list of extents".to_owned()),
            Self::Constant(value) => Ok(*value),
            Self::Dim(name) => dim(name),
            Self::Derived { dim: name, operator, constant } => {
                let value = dim(name)?;
                match operator {
                    '+' => value.checked_add(*constant),
                    '-' => value.checked_sub(*constant),
                    '*' => value.checked_mul(*constant),
                    _ => value.is_multiple_of(*constant).then(|| value.checked_div(*constant)).flatten(),
                }
                .ok_or_else(|| format!("{name}{operator}{constant} is not a whole number at {name}={value}"))
            }
            Self::Repeated { dim: name, argument } => {
                let value = dim(name)?;
                let Some(Scalar::Int(times)) = case.args.get(argument) else {
                    return Err(format!("{self}: '{argument}' is not an integer argument"));
                };
                let extent = u64::try_from(*times).ok().and_then(|times| value.checked_mul(times));
                extent.ok_or_else(|| format!("{self} is not an extent at {name}={value}, {argument}={times}"))
            }
        }
    }
}

impl fmt::Display for TypeSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.element {
            Element::CaseFloat => f.write_str("float[")?,
            Element::Fixed(dtype) => write!(f, "{dtype}[")?,
        }
        for (i, extent) in self.shape.iter().enumerate() {
            write!(f, "{}{extent}", if i == 0 { "" } else { ", " })?;
        }
        f.write_str("]")
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Batch => f.write_str("..."),
            Self::Constant(value) => write!(f, "{value}"),
            Self::Dim(name) => f.write_str(name),
            Self::Derived { dim, operator, constant } => write!(f, "{dim}{operator}{constant}"),
            Self::Repeated { dim, argument } => write!(f, "{dim}*{argument}"),
        }
    }
}

impl FromStr for TypeSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (element, rest) = text.split_once('[').ok_or_else(|| {
            format!("'{text}' is not a type; write one as \"float[..., hidden]\" or \"int64[tokens]\"")
        })?;
        let inside = rest.strip_suffix(']').ok_or_else(|| format!("'{text}' lacks the closing ']'"))?;
        let element = match element.trim() {
            "float" => Element::CaseFloat,
            other => Element::Fixed(
                other
                    .parse()
                    .map_err(|_| format!("'{text}': '{other}' is neither float (the case's dtype) nor a dtype"))?,
            ),
        };
        let shape = if inside.trim().is_empty() {
            Vec::new()
        } else {
            let words = inside.split(',').map(str::trim);
            words.map(|word| word.parse().map_err(|e| format!("'{text}': {e}"))).collect::<Result<_, _>>()?
        };
        if shape.iter().skip(1).any(|extent| *extent == Extent::Batch) {
            return Err(format!("'{text}': '...' stands for leading extents and must come first"));
        }
        Ok(Self { element, shape })
    }
}

impl FromStr for Extent {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let bad = || {
            format!(
                "'{word}' is not an extent; write ..., a number, a name, or one of name+k name-k name*k name/k name*argument"
            )
        };
        if word == "..." {
            return Ok(Self::Batch);
        }
        if let Ok(value) = word.parse() {
            return Ok(Self::Constant(value));
        }
        let Some(at) = word.find(['+', '-', '*', '/']) else {
            return if is_name(word) { Ok(Self::Dim(word.to_owned())) } else { Err(bad()) };
        };
        let dim = word[..at].trim();
        let operator = word[at..].chars().next().unwrap_or('+');
        let right = word[at + 1..].trim();
        if operator == '*' && is_name(dim) && is_name(right) {
            return Ok(Self::Repeated { dim: dim.to_owned(), argument: right.to_owned() });
        }
        let constant = right.parse().map_err(|_| bad())?;
        if !is_name(dim) || (operator == '/' && constant == 0) {
            return Err(bad());
        }
        Ok(Self::Derived { dim: dim.to_owned(), operator, constant })
    }
}

/// A Lua (and PyTorch) identifier.
pub(super) fn is_name(word: &str) -> bool {
    !word.is_empty()
        && !word.starts_with(|c: char| c.is_ascii_digit())
        && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case() -> Case {
        Case {
            dims: [("n".to_owned(), 7), ("even".to_owned(), 8)].into(),
            batch: vec![2, 3],
            dtype: DType::BF16,
            args: [("times".to_owned(), Scalar::Int(3)), ("eps".to_owned(), Scalar::Float(0.5))].into(),
            present: Default::default(),
        }
    }

    #[test]
    fn types_print_as_they_are_written_and_resolve_at_a_case() {
        let table: [(&str, &[u64]); 7] = [
            ("float[..., n]", &[2, 3, 7]),
            ("float32[]", &[]),
            ("int64[n, 3]", &[7, 3]),
            ("bool[...]", &[2, 3]),
            ("float[n+1, even/2, n*2, n-7]", &[8, 4, 14, 0]),
            ("float16[even]", &[8]),
            ("float[n*times]", &[21]),
        ];
        for (text, extents) in table {
            let spec: TypeSpec = text.parse().unwrap();
            assert_eq!(spec.to_string(), text);
            assert_eq!(spec.extents(&case()).unwrap(), extents, "{text}");
        }
        assert_eq!("float[]".parse::<TypeSpec>().unwrap().element.at(DType::F16), DType::F16);
        let fixed = "float32[]".parse::<TypeSpec>().unwrap().element;
        assert_eq!((fixed.at(DType::F16), fixed.at(DType::F64)), (DType::F32, DType::F64));
    }

    #[test]
    fn malformed_types_say_what_would_be_right() {
        let table = [
            ("float", "is not a type"),
            ("float[n", "closing"),
            ("flot[n]", "'flot' is neither float"),
            ("float[n, ...]", "must come first"),
            ("float[n,]", "'' is not an extent"),
            ("float[n+]", "'n+' is not an extent"),
            ("float[n+m]", "'n+m' is not an extent"),
            ("float[n/0]", "'n/0' is not an extent"),
            ("float[-1]", "'-1' is not an extent"),
            ("float[1n]", "'1n' is not an extent"),
        ];
        for (text, part) in table {
            let message = text.parse::<TypeSpec>().unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    #[test]
    fn extents_that_do_not_exist_are_errors() {
        let extents = |text: &str| text.parse::<TypeSpec>().unwrap().extents(&case());
        assert_eq!(extents("float[n/2]"), Err("n/2 is not a whole number at n=7".into()));
        assert_eq!(extents("float[n-8]"), Err("n-8 is not a whole number at n=7".into()));
        assert_eq!(extents("float[n*eps]"), Err("n*eps: 'eps' is not an integer argument".into()));
        assert_eq!(extents("float[m]"), Err("unknown dim 'm'".into()));
        assert!(extents("float[n*100000000000000]").unwrap_err().contains("too many elements"));
    }
}
