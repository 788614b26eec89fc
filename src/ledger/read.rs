//! Reading a log that may be torn, mixed or newer than this build.

use std::io::{BufRead, BufReader};
use std::path::Path;

use serde_json::{Map, Value};

use super::VERSION;

/// One readable line.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// 1-based line number.
    pub line: usize,
    /// 4 for ours; 3 for a line without a version field, as the Python tool wrote it.
    pub version: u64,
    pub fields: Map<String, Value>,
}

/// A line that was skipped, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub line: usize,
    pub kind: ProblemKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The file ends in the middle of a line: a writer died, or the disk was full.
    Torn,
    /// Not a JSON object.
    NotJson(String),
    /// Written by a newer popcorn.
    Newer(u64),
    /// A JSON object that lacks a field every record has.
    Missing(&'static str),
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match &self.kind {
            ProblemKind::Torn => f.write_str("torn (the writer died or the disk was full); skipped"),
            ProblemKind::NotJson(why) => write!(f, "not a record ({why}); skipped"),
            ProblemKind::Newer(version) => {
                write!(f, "record version {version}, this popcorn reads up to {VERSION}; skipped, upgrade to see it")
            }
            ProblemKind::Missing(field) => write!(f, "record without '{field}'; skipped"),
        }
    }
}

/// A whole log, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Log {
    pub entries: Vec<Entry>,
    pub problems: Vec<Problem>,
}

/// Fields without which a line says nothing.
const REQUIRED: [&str; 3] = ["op", "ts", "verdict"];

/// Reads a log. A file that does not exist is an empty log; only a file that cannot be read is an error.
pub fn read(path: &Path) -> std::io::Result<Log> {
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Log::default()),
        Err(error) => return Err(error),
    };
    let mut reader = BufReader::new(file);
    let mut log = Log::default();
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        if reader.read_until(b'\n', &mut bytes)? == 0 {
            break;
        }
        let complete = bytes.ends_with(b"\n");
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        match parse(&bytes) {
            Ok((version, fields)) => log.entries.push(Entry { line, version, fields }),
            Err(_) if !complete => log.problems.push(Problem { line, kind: ProblemKind::Torn }),
            Err(kind) => log.problems.push(Problem { line, kind }),
        }
    }
    Ok(log)
}

fn parse(bytes: &[u8]) -> Result<(u64, Map<String, Value>), ProblemKind> {
    let fields: Map<String, Value> =
        serde_json::from_slice(bytes).map_err(|error| ProblemKind::NotJson(error.to_string()))?;
    let version = match fields.get("v") {
        None => 3,
        Some(value) => value.as_u64().ok_or_else(|| ProblemKind::NotJson(format!("version {value}")))?,
    };
    if version > VERSION {
        return Err(ProblemKind::Newer(version));
    }
    match REQUIRED.into_iter().find(|name| !fields.contains_key(*name)) {
        Some(name) => Err(ProblemKind::Missing(name)),
        None => Ok((version, fields)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"v":4,"op":"softmax","ts":"2026-01-01T00:00:00Z","verdict":"keep"}"#;

    fn log_of(text: &[u8]) -> Log {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        read(file.path()).unwrap()
    }

    #[test]
    fn every_kind_of_bad_line_is_named_and_skipped() {
        let text = format!(
            "{GOOD}\nnot json\n[1,2]\n{}\n{}\n\n{GOOD}\n\u{0}\u{0}\n{{\"v\":4,\"op\":\"soft",
            GOOD.replace("\"v\":4", "\"v\":9"),
            GOOD.replace("\"op\"", "\"xx\"")
        );
        let log = log_of(text.as_bytes());
        assert_eq!(log.entries.iter().map(|entry| entry.line).collect::<Vec<_>>(), [1, 7]);
        let kinds: Vec<_> = log.problems.iter().map(|problem| (problem.line, &problem.kind)).collect();
        assert!(matches!(
            kinds[..],
            [
                (2, ProblemKind::NotJson(_)),
                (3, ProblemKind::NotJson(_)),
                (4, ProblemKind::Newer(9)),
                (5, ProblemKind::Missing("op")),
                (8, ProblemKind::NotJson(_)),
                (9, ProblemKind::Torn)
            ]
        ));
    }

    #[test]
    fn invalid_utf8_and_an_unfinished_good_line_are_fine() {
        let log = log_of(&[b"\xff\xfe\n", GOOD.as_bytes()].concat());
        assert_eq!((log.entries.len(), log.problems.len()), (1, 1));
    }

    #[test]
    fn a_missing_file_is_an_empty_log() {
        assert_eq!(read(Path::new("/nonexistent/x.jsonl")).unwrap(), Log::default());
    }

    #[test]
    fn a_line_without_version_is_the_python_tools() {
        let log = log_of(GOOD.replace("\"v\":4,", "").as_bytes());
        assert_eq!(log.entries[0].version, 3);
    }
}
