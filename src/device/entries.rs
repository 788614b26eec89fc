//! Why a kernel that was asked for is none: what every compiler's message about the list of entries becomes.

use std::path::{Path, PathBuf};

use super::options::source_error;
use super::{CompileError, scan};

/// A complaint that stands for a kernel with a result.
pub(in crate::device) const MUST_RETURN_VOID: &str = "it must return void";

/// A path as the user wrote it, or at least without the folder of the kernel file.
pub(in crate::device) fn shown(file: &str, source: &Path) -> String {
    let folder = source.parent().unwrap_or(Path::new(""));
    Path::new(file).strip_prefix(folder).unwrap_or(Path::new(file)).display().to_string()
}

/// Kernels (or other functions) in the source and the headers it includes.
fn names_in(files: &[PathBuf], qualifier: &str) -> Vec<String> {
    let mut names = Vec::new();
    for file in files {
        let text = std::fs::read(file).unwrap_or_default();
        for name in scan::functions(&scan::strip(&String::from_utf8_lossy(&text)), qualifier) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// `no kernel 'foo' in rms_norm.cu; it has: a, b`, with the nearest name if one is near.
fn missing_kernel(expression: &str, source: &Path, files: &[PathBuf]) -> CompileError {
    let wanted = scan::base_name(expression);
    let kernels = names_in(files, "__global__");
    let file = source.file_name().unwrap_or_default().display();
    let near = kernels
        .iter()
        .map(|name| (strsim::damerau_levenshtein(name, wanted), name))
        .filter(|(distance, name)| *distance <= (name.len() / 3).max(2))
        .min()
        .map_or_else(String::new, |(_, name)| format!("; did you mean '{name}'?"));
    let has = if kernels.is_empty() {
        "; it defines no __global__ function".to_owned()
    } else {
        format!("; it has: {}", kernels.join(", "))
    };
    source_error(format!("{file}: no kernel '{wanted}' in {file}{has}{near}"))
}

/// A line of a file without comments and literals; empty where there is none.
pub(in crate::device) fn line_text(file: &str, line: usize) -> String {
    let text = std::fs::read(file).unwrap_or_default();
    scan::strip(&String::from_utf8_lossy(&text)).lines().nth(line.saturating_sub(1)).unwrap_or_default().to_owned()
}

/// Explains `complaint`, a compiler's about an entry. `files` are the source and what it includes, as far as known.
pub(in crate::device) fn refused(expression: &str, complaint: &str, files: &[PathBuf], source: &Path) -> CompileError {
    let file = shown(&source.display().to_string(), source);
    let known = names_in(files, "__global__");
    let wanted = scan::base_name(expression);
    if !known.iter().any(|name| name == wanted) {
        if names_in(files, "__device__").iter().any(|name| name == wanted) {
            return source_error(format!("{file}: '{wanted}' is a __device__ function, not a kernel (__global__)"));
        }
        return missing_kernel(expression, source, files);
    }
    let why = if expression.contains('<') || complaint == MUST_RETURN_VOID {
        complaint.to_owned()
    } else {
        format!("it is a template or overloaded: name an instance, such as {wanted}<float> ({complaint})")
    };
    source_error(format!("{file}: kernel '{expression}': {why}"))
}

/// Refuses entries that compile but are no kernels.
pub(in crate::device) fn check(kernels: &[String], source: &Path, included: &[PathBuf]) -> Result<(), CompileError> {
    let files: Vec<PathBuf> = std::iter::once(source.to_owned()).chain(included.iter().cloned()).collect();
    let known = names_in(&files, "__global__");
    for expression in kernels {
        let name = scan::base_name(expression);
        if !known.iter().any(|kernel| kernel == name)
            && names_in(&files, "__device__").iter().any(|other| other == name)
        {
            return Err(source_error(format!(
                "{}: '{name}' is a __device__ function, not a kernel (__global__)",
                shown(&source.display().to_string(), source)
            )));
        }
    }
    Ok(())
}
