//! What a compilation is asked for besides the source: options and kernel names, checked before a compiler sees them.

use std::path::{Path, PathBuf};

use super::traits::{CompileError, CompileErrorKind};

/// A fault of the candidate's source or of what it asks for.
pub(in crate::device) fn source_error(message: String) -> CompileError {
    CompileError { kind: CompileErrorKind::Source, message, log: String::new() }
}

/// A fault of the machine.
pub(in crate::device) fn environment(message: String) -> CompileError {
    CompileError { kind: CompileErrorKind::Environment, message, log: String::new() }
}

/// One option that every device understands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::device) enum CompileOption {
    /// `NAME` or `NAME=VALUE`.
    Define(String),
    /// An existing folder.
    Include(PathBuf),
    FastMath,
}

/// Reads NVRTC options: `-DNAME=VALUE`, `-I DIR` (relative to the source's folder), `--use_fast_math`.
pub(in crate::device) fn parse(options: &[String], source: &Path) -> Result<Vec<CompileOption>, CompileError> {
    let folder = source.parent().unwrap_or(Path::new("."));
    let refuse = |option: &str, why: &str| {
        source_error(format!(
            "{}: option '{option}' {why}; known: -DNAME=VALUE, -I DIR, --use_fast_math",
            source.display()
        ))
    };
    let mut parsed = Vec::new();
    let mut rest = options.iter().flat_map(|option| match option.strip_prefix("-I ").or(option.strip_prefix("-D ")) {
        Some(value) => vec![option[..2].to_owned(), value.trim().to_owned()],
        None => vec![option.clone()],
    });
    while let Some(option) = rest.next() {
        if option.contains(['\n', '\0']) {
            return Err(refuse(&option.escape_debug().to_string(), "holds a control character"));
        }
        if let Some(define) = option.strip_prefix("-D") {
            let define = if define.is_empty() { rest.next().unwrap_or_default() } else { define.to_owned() };
            let name = define.split('=').next().unwrap_or_default();
            let valid = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if !valid {
                return Err(refuse(&option, "names no macro"));
            }
            parsed.push(CompileOption::Define(define));
        } else if let Some(dir) = option.strip_prefix("-I") {
            let dir = if dir.is_empty() { rest.next().unwrap_or_default() } else { dir.to_owned() };
            let dir = folder.join(dir);
            if !dir.is_dir() {
                return Err(refuse(&option, &format!("names no folder ({})", dir.display())));
            }
            parsed.push(CompileOption::Include(dir));
        } else if option == "--use_fast_math" || option == "-use_fast_math" {
            parsed.push(CompileOption::FastMath);
        } else {
            return Err(refuse(&option, "is not supported"));
        }
    }
    Ok(parsed)
}

/// Refuses what is not a C++ name with template arguments, because the names become part of the wrapper's text.
pub(in crate::device) fn check_names(kernels: &[String], source: &Path) -> Result<(), CompileError> {
    if kernels.is_empty() {
        return Err(source_error(format!("{}: no kernel was asked for", source.display())));
    }
    for name in kernels {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "_:<>, *&()+-.'".contains(c);
        let first = name.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_' || c == ':');
        let balanced = |open, close| name.matches(open).count() == name.matches(close).count();
        if !first || !name.chars().all(allowed) || !balanced('<', '>') || !balanced('(', ')') {
            return Err(source_error(format!(
                "{}: '{}' is not a kernel name expression such as saxpy or rms_norm<float, 8>",
                source.display(),
                name.escape_debug()
            )));
        }
    }
    Ok(())
}
