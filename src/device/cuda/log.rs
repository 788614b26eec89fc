//! From NVRTC's log to one line in the user's terms.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use super::nvrtc::INSTALL;
use super::wrapper::{ENTRY_LIST, TYPES};
use crate::device::CompileError;
use crate::device::entries::{self, shown};
use crate::device::options::{environment, source_error};

/// `file(line): error: text`, with a number in newer releases: `error #20: …`.
static ERROR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?m)^(?P<file>[^()\n]+)\((?P<line>\d+)\): (?:catastrophic )?error(?: #[\w-]+)?: (?P<text>.*)$").ok()
});

/// NVRTC's pseudo file of the name expressions.
const NAME_MAP: &str = "__nv_name_map";
/// What NVRTC says of an option's value, where a message about a file has a line.
const BAD_OPTION: &str = "nvrtc: error: ";

/// Explains a failed compilation. `files` are the source and what it includes.
pub(super) fn failure(
    log: &str,
    files: &[PathBuf],
    source: &Path,
    kernels: &[String],
    has_headers: bool,
) -> CompileError {
    let found = ERROR.as_ref().map(|pattern| pattern.captures_iter(log)).into_iter().flatten();
    // NVRTC's own list of expressions only repeats what is said of ours.
    let found: Vec<_> = found.filter(|error| &error["file"] != NAME_MAP).collect();
    // A message about the source proper comes before one about the names that were asked for.
    let first = found.iter().find(|error| &error["file"] != ENTRY_LIST).or(found.first());
    let mut error = match first {
        None if log.starts_with(BAD_OPTION) => environment(log.trim_start_matches(BAD_OPTION).trim().to_owned()),
        None => {
            let line =
                log.lines().find(|line| line.contains("error")).or(log.lines().find(|line| !line.trim().is_empty()));
            source_error(format!(
                "{}: {}",
                shown(&source.display().to_string(), source),
                line.unwrap_or("no message").trim()
            ))
        }
        Some(error) if &error["file"] == ENTRY_LIST => {
            let entry = error["line"].parse::<usize>().ok().and_then(|line| kernels.get(line.wrapping_sub(1)));
            match entry {
                Some(expression) => entries::refused(expression, &error["text"], files, source),
                None => source_error(error["text"].to_owned()),
            }
        }
        Some(error) if &error["file"] == TYPES => source_error(format!(
            "{}: the file ends inside of something: a brace, parenthesis or #if is not closed",
            shown(&source.display().to_string(), source)
        )),
        Some(error) => {
            let (file, line, text) = (&error["file"], &error["line"], &error["text"]);
            let place = format!("{}:{line}: ", shown(file, source));
            if !has_headers && text.contains("cannot open source file \"cuda") {
                environment(format!("{place}{text}; CUDA's headers were not found: {INSTALL}"))
            } else {
                source_error(format!("{place}{text}"))
            }
        }
    };
    log.clone_into(&mut error.log);
    error
}
