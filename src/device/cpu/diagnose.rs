//! From a failed compilation to one line in the user's terms.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use super::features;
use super::inspect::Needs;
use super::shim::is_shim_path;
use super::toolchain::{HostCompiler, Output};
use super::wrapper::ENTRY_LIST;
use crate::device::entries::{self, line_text, shown};
use crate::device::options::{environment, source_error};
use crate::device::scan;
use crate::device::{CompileError, CompileErrorKind};

/// One `file:line: error: text` of the compiler.
struct Diagnostic {
    file: String,
    line: usize,
    text: String,
}

static ERROR: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(?P<file>[^:\n]+):(?P<line>\d+)(?::\d+)?: (?:fatal )?error: (?P<text>.*)$").ok());
static CONTEXT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?:from |^)(?P<file>[^:\n]+):(?P<line>\d+)(?::\d+)?(?:[,:]|.*required from here|.*requested here)")
        .ok()
});

fn errors(log: &str) -> Vec<Diagnostic> {
    let Some(pattern) = ERROR.as_ref() else { return Vec::new() };
    log.lines()
        .filter_map(|line| {
            let found = pattern.captures(line)?;
            Some(Diagnostic {
                file: found["file"].to_owned(),
                line: found["line"].parse().ok()?,
                text: found["text"].to_owned(),
            })
        })
        .collect()
}

/// The last place in a user's file that the compiler named before the line that holds `needle`.
fn user_context(log: &str, needle: &str) -> Option<(String, usize)> {
    let pattern = CONTEXT.as_ref()?;
    let end = log.find(needle).unwrap_or(log.len());
    let before = log[..end].lines().rev().take(30);
    let after = log[end..].lines().skip(1).take_while(|line| !line.contains(" error: "));
    before.chain(after).find_map(|line| {
        let found = pattern.captures(line.trim_start_matches("In file included "))?;
        let file = found["file"].trim();
        let ours = is_shim_path(file) || file.contains(ENTRY_LIST) || file.ends_with("kernel.cc");
        (!ours && file.contains('.')).then(|| Some((file.to_owned(), found["line"].parse().ok()?)))?
    })
}

/// Explains a failed compiler run. `files` are the source and what it includes, as far as known.
pub(super) fn compile_failure(
    output: &Output,
    files: &[PathBuf],
    source: &Path,
    kernels: &[String],
    compiler: &HostCompiler,
) -> CompileError {
    let log = &output.text;
    let with_log = |mut error: CompileError| {
        error.log.clone_from(log);
        error
    };
    if let Some(why) = machine_failure(output) {
        return with_log(environment(format!("{}: {why}", compiler.path.display())));
    }
    let found = errors(log);
    // A message about the source proper comes before one about the names that were asked for.
    let Some(first) = found.iter().find(|d| !d.file.contains(ENTRY_LIST)).or(found.first()) else {
        let line = log.lines().find(|line| !line.trim().is_empty()).unwrap_or("no message");
        return with_log(environment(format!("{} failed: {line}", compiler.path.display())));
    };
    if first.file.contains(ENTRY_LIST) {
        return with_log(entry_error(first, files, source, kernels));
    }
    if first.text.contains("a kernel must be a function that returns void") {
        let line =
            log.split(&format!("{ENTRY_LIST}:")).nth(1).and_then(|rest| rest.split([':', ',']).next()?.parse().ok());
        let place = Diagnostic {
            file: ENTRY_LIST.to_owned(),
            line: line.unwrap_or(1),
            text: entries::MUST_RETURN_VOID.to_owned(),
        };
        return with_log(entry_error(&place, files, source, kernels));
    }
    let (file, line) = if is_shim_path(&first.file) || first.file.ends_with("kernel.cc") {
        user_context(log, &first.text).unwrap_or((first.file.clone(), first.line))
    } else {
        (first.file.clone(), first.line)
    };
    let source_line = line_text(&file, line);
    let text = features::explain(&first.text, &source_line).unwrap_or_else(|| first.text.clone());
    with_log(source_error(format!("{}:{line}: {text}", shown(&file, source))))
}

/// An error in the list of entries, whose line is the entry's number.
fn entry_error(first: &Diagnostic, files: &[PathBuf], source: &Path, kernels: &[String]) -> CompileError {
    match kernels.get(first.line.saturating_sub(1)) {
        Some(expression) => entries::refused(expression, &first.text, files, source),
        None => source_error(format!("{}: {}", shown(&source.display().to_string(), source), first.text)),
    }
}

/// Failures that are not the source's doing.
pub(super) fn machine_failure(output: &Output) -> Option<String> {
    if output.text.contains("No space left on device") {
        return Some("no space left on the disk of the compile cache".to_owned());
    }
    if output.text.contains("internal compiler error") && !output.text.contains("Killed") {
        return Some("internal compiler error; try another compiler through POPCORN_CXX".to_owned());
    }
    if output.text.contains("CPU time limit exceeded") || output.signal == Some(libc::SIGXCPU) {
        return Some("the compiler took more than 60 s of processor time".to_owned());
    }
    if output.signal.is_some() || output.text.contains("Killed signal terminated program") {
        return Some("the compiler was killed (out of memory?)".to_owned());
    }
    None
}

/// Refuses objects that need what the device does not give. `included` are the user's headers.
pub(super) fn check_needs(needs: &Needs, source: &Path, included: &[PathBuf]) -> Result<(), CompileError> {
    let locate = |word: &str| {
        std::iter::once(source).chain(included.iter().map(PathBuf::as_path)).find_map(|file| {
            let text = std::fs::read(file).ok()?;
            let line = scan::line_of_word(&scan::strip(&String::from_utf8_lossy(&text)), word)?;
            Some(format!("{}:{line}: ", shown(&file.display().to_string(), source)))
        })
    };
    let fallback = || format!("{}: ", shown(&source.display().to_string(), source));
    if let Some(symbol) = needs.undefined.first() {
        let plain = plain_symbol(symbol);
        let at = locate(&plain).unwrap_or_else(fallback);
        return Err(source_error(format!("{at}undefined symbol '{plain}': a kernel can call only device functions")));
    }
    if let Some(symbol) = needs.initialised_shared.first() {
        let plain = plain_symbol(symbol);
        let at = locate(&plain).or_else(|| locate("__shared__")).unwrap_or_else(fallback);
        return Err(source_error(format!(
            "{at}__shared__ variable '{plain}' has an initial value or a constructor, which CUDA does not allow"
        )));
    }
    Ok(())
}

/// The innermost name in an Itanium-mangled symbol; other symbols as they are.
fn plain_symbol(symbol: &str) -> String {
    let Some(rest) = symbol.strip_prefix("_Z").or_else(|| symbol.strip_prefix("Z")) else { return symbol.to_owned() };
    let mut name = None;
    let mut at = rest.trim_start_matches(|c: char| !c.is_ascii_digit());
    while let Some(end) = at.find(|c: char| !c.is_ascii_digit()).filter(|end| *end > 0) {
        let Ok(len) = at[..end].parse::<usize>() else { break };
        let Some(word) = at.get(end..end + len) else { break };
        name = Some(word);
        at = at[end + len..].trim_start_matches('E');
        if !at.starts_with(|c: char| c.is_ascii_digit()) {
            match at.find(|c: char| c.is_ascii_digit()).filter(|_| symbol.starts_with('Z')) {
                Some(next) => at = &at[next..],
                None => break,
            }
        }
    }
    name.unwrap_or(symbol).to_owned()
}

/// The linker's first complaint. Kernels cannot cause one that [`check_needs`] lets pass.
pub(super) fn link_failure(output: &Output, source: &Path) -> CompileError {
    let why = machine_failure(output).unwrap_or_else(|| {
        output
            .text
            .lines()
            .find(|line| line.contains("error") || line.contains("undefined"))
            .unwrap_or("no message")
            .to_owned()
    });
    CompileError {
        kind: CompileErrorKind::Environment,
        message: format!("{}: cannot link the kernel object: {why}", source.display()),
        log: output.text.clone(),
    }
}
