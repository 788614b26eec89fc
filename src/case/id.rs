//! Stable names of cases and samples, equal to those of the Python package `popcorn` 0.1.1.

use std::fmt::Write as _;

use sha1::{Digest, Sha1};

use super::text::python_float;
use crate::model::{Case, Scalar};

/// First 12 hex digits of the sha1 of the case's canonical JSON:
/// `[[[dim, value], …], [batch, …], "torch.<dtype>", [[arg, value], …], [present, …]]`, each list sorted, written as
/// Python's `json.dumps` does (", " and ": " between items, ASCII only).
pub fn case_id(case: &Case) -> String {
    hex12(&Sha1::digest(canonical_json(case)))
}

/// Name of a list of cases: first 12 hex digits of the sha1 of their comma-joined ids, order included.
pub fn sample_id(cases: &[Case]) -> String {
    let ids: Vec<String> = cases.iter().map(case_id).collect();
    hex12(&Sha1::digest(ids.join(",")))
}

fn hex12(digest: &[u8]) -> String {
    digest.iter().take(6).fold(String::with_capacity(12), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn canonical_json(case: &Case) -> String {
    let dims = list(case.dims.iter().map(|(name, extent)| format!("[{}, {extent}]", json_string(name))));
    let batch = list(case.batch.iter().map(u64::to_string));
    let args = list(case.args.iter().map(|(name, value)| format!("[{}, {}]", json_string(name), json_scalar(value))));
    let present = list(case.present.iter().map(|name| json_string(name)));
    format!("[{dims}, {batch}, \"torch.{}\", {args}, {present}]", case.dtype)
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

fn json_scalar(value: &Scalar) -> String {
    match value {
        Scalar::None => "null".to_owned(),
        Scalar::Bool(value) => value.to_string(),
        Scalar::Int(value) => value.to_string(),
        Scalar::Float(value) => match python_float(*value).as_str() {
            "nan" => "NaN".to_owned(),
            "inf" => "Infinity".to_owned(),
            "-inf" => "-Infinity".to_owned(),
            text => text.to_owned(),
        },
        Scalar::Str(value) => json_string(value),
        Scalar::Ints(values) => list(values.iter().map(i64::to_string)),
    }
}

/// A JSON string with everything outside ASCII escaped (as UTF-16 units), which is what `json.dumps` does by default.
fn json_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::DType;

    fn swiglu(hidden: u64, batch: &[u64], dtype: DType) -> Case {
        Case {
            dims: [("hidden".to_owned(), hidden)].into(),
            batch: batch.to_vec(),
            dtype,
            args: Default::default(),
            present: Default::default(),
        }
    }

    #[test]
    fn the_sample_of_a_log_of_the_python_package_is_reproduced() {
        // The four cases and the sample id of reference/peer_log/swiglu.jsonl, line 1.
        let cases = [
            swiglu(22016, &[4], DType::F16),
            swiglu(4096, &[64], DType::BF16),
            swiglu(65, &[8], DType::F16),
            swiglu(512, &[], DType::BF16),
        ];
        assert_eq!(sample_id(&cases), "c1fcc351ec4d");
    }

    #[test]
    fn canonical_json_spells_every_kind_of_value_as_python_does() {
        let case = Case {
            dims: [("b".to_owned(), 2), ("a".to_owned(), 1)].into(),
            batch: vec![3, 4],
            dtype: DType::BF16,
            args: [
                ("eps".to_owned(), Scalar::Float(1e-6)),
                ("flag".to_owned(), Scalar::Bool(true)),
                ("k".to_owned(), Scalar::Int(-100)),
                ("none".to_owned(), Scalar::None),
                ("s".to_owned(), Scalar::Str("\u{e9}\"\u{1f600}".to_owned())),
                ("zero".to_owned(), Scalar::Float(0.0)),
            ]
            .into(),
            present: ["weight".to_owned(), "bias".to_owned()].into(),
        };
        assert_eq!(
            canonical_json(&case),
            r#"[[["a", 1], ["b", 2]], [3, 4], "torch.bfloat16", [["eps", 1e-06], ["flag", true], ["k", -100], ["none", null], ["s", "\u00e9\"\ud83d\ude00"], ["zero", 0.0]], ["bias", "weight"]]"#
        );
    }
}
