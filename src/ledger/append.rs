//! One locked append.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Why a line could not be written. The log holds what it held before.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} the log {path}: {source}")]
pub struct AppendError {
    pub action: &'static str,
    pub path: PathBuf,
    pub source: std::io::Error,
}

/// Held while a line is being written.
static WRITING: Mutex<()> = Mutex::new(());

/// Waits for a write in progress and keeps new ones from starting: for a process that is about to exit.
pub fn quiesce() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn open(path: &Path) -> Result<File, AppendError> {
    let fail = |action| {
        let path = path.to_owned();
        move |source| AppendError { action, path, source }
    };
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        std::fs::create_dir_all(parent).map_err(fail("create the folder of"))?;
    }
    OpenOptions::new().read(true).append(true).create(true).open(path).map_err(fail("open"))
}

/// Creates the log and its folder if need be, and makes sure that it can be opened for writing: called before the
/// experiment, so that a minute of work is not lost to a read-only folder.
pub fn check_writable(path: &Path) -> Result<(), AppendError> {
    open(path).map(drop)
}

/// Appends `line` (without newline) and a newline under an exclusive lock, then syncs.
///
/// A torn last line of an earlier writer is kept and closed with a newline, so that readers can skip it. When the
/// disk fills up in the middle, the file is cut back to its former length: all of the line or nothing.
pub fn append(path: &Path, line: &str) -> Result<(), AppendError> {
    let fail = |action| move |source| AppendError { action, path: path.to_owned(), source };
    debug_assert!(!line.contains('\n'), "a record is one line");
    let _writing = quiesce();
    let mut file = open(path)?;
    file.lock().map_err(fail("lock"))?;
    let length = file.seek(SeekFrom::End(0)).map_err(fail("read"))?;
    let mut buffer = Vec::with_capacity(line.len() + 2);
    if length > 0 {
        let mut last = [0];
        file.seek(SeekFrom::End(-1)).map_err(fail("read"))?;
        file.read_exact(&mut last).map_err(fail("read"))?;
        if last != *b"\n" {
            buffer.push(b'\n');
        }
    }
    buffer.extend_from_slice(line.as_bytes());
    buffer.push(b'\n');
    let written = file.write_all(&buffer).and_then(|()| file.sync_data());
    if let Err(source) = written {
        // Best effort: if even this fails, the reader reports one torn line and goes on.
        let _ = file.set_len(length);
        return Err(AppendError { action: "append to", path: path.to_owned(), source });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_appended_and_folders_created() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/op.jsonl");
        append(&path, "{\"a\":1}").unwrap();
        append(&path, "{\"a\":2}").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"a\":1}\n{\"a\":2}\n");
    }

    #[test]
    fn a_torn_line_is_closed_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("op.jsonl");
        std::fs::write(&path, "{\"a\":1}\n{\"to").unwrap();
        append(&path, "{\"a\":2}").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"a\":1}\n{\"to\n{\"a\":2}\n");
    }

    #[test]
    fn many_writers_lose_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("op.jsonl");
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let path = &path;
                scope.spawn(move || {
                    for line in 0..50 {
                        append(
                            path,
                            &format!("{{\"writer\":{writer},\"line\":{line},\"pad\":\"{}\"}}", "x".repeat(5000)),
                        )
                        .unwrap();
                    }
                });
            }
        });
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().filter(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()).count(), 400);
    }

    #[test]
    fn an_error_names_the_path() {
        let error = append(Path::new("/proc/none/op.jsonl"), "{}").unwrap_err();
        assert!(error.to_string().contains("/proc/none/op.jsonl"), "{error}");
    }
}
