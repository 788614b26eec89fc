//! The files that a source includes. NVRTC does not list them, and the cache must see them change.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use crate::device::CompileError;
use crate::device::options::{CompileOption, source_error};

static INCLUDE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r#"^\s*#\s*include\b\s*(.*)$"#).ok());

/// Every file that `source` may include, itself left out, in the order of discovery. Conditions are not evaluated, so
/// there may be more than a compilation reads. The toolkit's own headers (`toolkit`) and what cannot be found are left
/// to the compiler.
pub(super) fn follow(
    source: &Path,
    options: &[CompileOption],
    toolkit: Option<&Path>,
) -> Result<Vec<PathBuf>, CompileError> {
    let mut folders: Vec<&Path> = options
        .iter()
        .filter_map(|option| match option {
            CompileOption::Include(folder) => Some(folder.as_path()),
            _ => None,
        })
        .collect();
    folders.extend(source.parent());
    let mut found = vec![source.to_owned()];
    let mut at = 0;
    while at < found.len() {
        let file = found[at].clone();
        let text = fs::read(&file).unwrap_or_default();
        for (index, line) in String::from_utf8_lossy(&text).lines().enumerate() {
            let Some(target) = INCLUDE.as_ref().and_then(|pattern| pattern.captures(line)) else { continue };
            let Some(name) = quoted(&target[1]) else {
                return Err(source_error(format!(
                    "{}:{}: #include {} names no file; write it as \"file\" or <file>, so that its changes are seen",
                    file.display(),
                    index + 1,
                    target[1].trim()
                )));
            };
            let places = file.parent().into_iter().chain(folders.iter().copied());
            let path = places.map(|folder| folder.join(name)).find(|path| path.is_file());
            let Some(path) = path.and_then(|path| path.canonicalize().ok()) else { continue };
            if !found.contains(&path) && !toolkit.is_some_and(|toolkit| path.starts_with(toolkit)) {
                found.push(path);
            }
        }
        at += 1;
    }
    found.remove(0);
    Ok(found)
}

/// The name in `"name"` or `<name>`.
fn quoted(text: &str) -> Option<&str> {
    let close = match text.chars().next()? {
        '"' => '"',
        '<' => '>',
        _ => return None,
    };
    text[1..].split_once(close).map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn includes_are_followed_through_files_and_folders() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let write = |name: &str, text: &str| {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), text).unwrap();
        };
        write(
            "k.cu",
            "#include \"common/a.cuh\"\n  # include <far.h>\n#include <cuda_fp16.h>\nint x;\n#include \"none.h\"",
        );
        write("common/a.cuh", "#include \"b.cuh\"\n#include \"../k.cu\"");
        write("common/b.cuh", "");
        write("far/far.h", "#include \"far.h\"");
        write("toolkit/cuda_fp16.h", "");
        let options = [CompileOption::Include(root.join("far")), CompileOption::Include(root.join("toolkit"))];
        let found = follow(&root.join("k.cu"), &options, Some(&root.join("toolkit"))).unwrap();
        assert_eq!(found, ["common/a.cuh", "far/far.h", "common/b.cuh"].map(|name| root.join(name)));
        write("k.cu", "\n#include NAME\n");
        let error = follow(&root.join("k.cu"), &[], None).unwrap_err();
        assert!(error.message.contains("k.cu:2: #include NAME"), "{}", error.message);
    }
}
