//! Which commit the candidate's files are at.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Serialize;

/// Commit of the work tree that holds the candidate, and whether its files differ from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GitState {
    pub commit: String,
    pub dirty: bool,
}

/// None outside a repository, without git, or before the first commit.
pub fn git_state(files: &[PathBuf]) -> Option<GitState> {
    let folder = files.first()?.parent()?;
    let commit = run(folder, ["rev-parse", "--short=12", "HEAD"].map(Into::into).to_vec())?;
    let mut status = ["status", "--porcelain", "--"].map(std::ffi::OsString::from).to_vec();
    status.extend(files.iter().map(|file| file.clone().into_os_string()));
    let dirty = !run(folder, status)?.is_empty();
    Some(GitState { commit, dirty })
}

fn run(folder: &Path, args: Vec<std::ffi::OsString>) -> Option<String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(args)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_is_dirty_and_outside_a_repository_there_is_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("k.cu");
        std::fs::write(&file, "a").unwrap();
        assert_eq!(git_state(std::slice::from_ref(&file)), None);
        let git = |args: &str| {
            let done = Command::new("git")
                .arg("-C")
                .arg(dir.path())
                .args(["-c", "user.name=t", "-c", "user.email=t@t"])
                .args(args.split(' '))
                .stdout(Stdio::null())
                .status();
            assert!(done.unwrap().success());
        };
        git("init -q");
        git("add k.cu");
        git("commit -q -m one");
        assert!(!git_state(std::slice::from_ref(&file)).unwrap().dirty);
        std::fs::write(&file, "b").unwrap();
        assert!(git_state(&[file]).unwrap().dirty);
    }
}
