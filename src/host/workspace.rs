//! Where `ops/`, `scripts/` and `kernels/` are read from: the user's workspace, else the copies inside the binary.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use include_dir::{Dir, DirEntry, include_dir};
use sha2::{Digest, Sha256};

use super::HostError;

static OPS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/ops");
static SCRIPTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/scripts");
static KERNELS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/kernels");

/// The folders that a workspace has and the binary embeds.
const FOLDERS: [(&str, &Dir<'_>); 3] = [("ops", &OPS), ("scripts", &SCRIPTS), ("kernels", &KERNELS)];

/// Files come from `root` where they exist there, one by one, else from the binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    /// The nearest parent folder with `ops/` and `scripts/`; None when there is none.
    pub root: Option<PathBuf>,
    /// Where the embedded tree is written when a compiler needs it as files: `<cache>/embedded/<hash>`.
    pub embedded_root: PathBuf,
}

/// The bytes of a workspace file and where they came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileContent {
    pub bytes: Cow<'static, [u8]>,
    /// Path on disk; None for an embedded copy.
    pub path: Option<PathBuf>,
}

/// `${POPCORN_CACHE_DIR:-~/.cache/popcorn}/v4`: logs, compiled kernels, the embedded tree.
pub fn cache_root() -> Result<PathBuf, HostError> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("POPCORN_CACHE_DIR")
        .or_else(|| set("HOME").map(|home| home.join(".cache/popcorn")))
        .map(|base| base.join("v4"))
        .ok_or_else(|| HostError::environment("no cache folder: set POPCORN_CACHE_DIR or HOME"))
}

impl Workspace {
    /// The workspace that holds `start`, with its cache under `cache` (see [`cache_root`]).
    pub fn discover(start: &Path, cache: &Path) -> Self {
        let is_workspace = |folder: &&Path| folder.join("ops").is_dir() && folder.join("scripts").is_dir();
        let root = start.ancestors().find(is_workspace).map(Path::to_path_buf);
        Self { root, embedded_root: cache.join("embedded").join(embedded_hash()) }
    }

    /// Reads `relative` (such as `ops/rms_norm.lua`); None when neither the workspace nor the binary has it.
    pub fn read(&self, relative: &str) -> Result<Option<FileContent>, HostError> {
        if let Some(path) = self.on_disk(relative)? {
            let bytes = fs::read(&path).map_err(|e| HostError::environment(format!("{relative}: cannot read: {e}")))?;
            return Ok(Some(FileContent { bytes: Cow::Owned(bytes), path: Some(path) }));
        }
        let embedded = embedded_files().find(|(path, _)| path == relative);
        Ok(embedded.map(|(_, bytes)| FileContent { bytes: Cow::Borrowed(bytes), path: None }))
    }

    /// Names (with extension) of the files directly in `folder` that end in `extension`, sorted, from both places.
    pub fn list(&self, folder: &str, extension: &str) -> Result<Vec<String>, HostError> {
        let prefix = format!("{folder}/");
        let mut names: Vec<String> = embedded_files()
            .filter_map(|(path, _)| path.strip_prefix(&prefix).map(str::to_owned))
            .filter(|name| !name.contains('/'))
            .collect();
        if let Some(folder) = self.root.as_ref().map(|root| root.join(folder)).filter(|folder| folder.is_dir()) {
            let fail = |e: io::Error| HostError::environment(format!("{}: cannot list: {e}", folder.display()));
            for entry in fs::read_dir(&folder).map_err(fail)? {
                let entry = entry.map_err(fail)?;
                if let Some(name) = entry.file_name().to_str()
                    && entry.path().is_file()
                {
                    names.push(name.to_owned());
                }
            }
        }
        names.retain(|name| !name.starts_with('.') && name.ends_with(extension));
        names.sort();
        names.dedup();
        Ok(names)
    }

    /// Writes a file that is new to the workspace, such as `ops/my_op.lua`. Neither a file on disk nor the name of an
    /// embedded one is ever overwritten.
    pub fn create(&self, relative: &str, text: &str) -> Result<PathBuf, HostError> {
        if self.on_disk(relative)?.is_some() {
            return Err(HostError::usage(format!("{relative}: is there already; choose another name, or remove it")));
        }
        if embedded_files().any(|(path, _)| path == relative) {
            return Err(HostError::usage(format!("{relative}: popcorn has a file of that name; choose another")));
        }
        let Some(root) = &self.root else {
            return Err(HostError::usage(format!(
                "{relative}: no workspace here (a folder with ops/ and scripts/); `popcorn init` makes one"
            )));
        };
        let path = root.join(relative);
        let fail = |e: io::Error| HostError::environment(format!("{relative}: cannot write: {e}"));
        path.parent().map_or(Ok(()), fs::create_dir_all).map_err(fail)?;
        // Fails if the file has appeared since.
        let mut file = fs::OpenOptions::new().write(true).create_new(true).open(&path).map_err(fail)?;
        io::Write::write_all(&mut file, text.as_bytes()).map_err(fail)?;
        Ok(path)
    }

    /// A kernel file (such as `rms_norm_cu.lua`) as an absolute path: the workspace's, else the embedded one, written
    /// out beside its siblings. None when there is neither.
    pub fn kernel_path(&self, name: &str) -> Result<Option<PathBuf>, HostError> {
        let relative = format!("kernels/{name}");
        if let Some(path) = self.on_disk(&relative)? {
            return Ok(Some(path));
        }
        if !embedded_files().any(|(path, _)| path == relative) {
            return Ok(None);
        }
        self.materialise()?;
        Ok(Some(self.embedded_root.join(relative)))
    }

    /// Writes the embedded tree to [`Self::embedded_root`], all at once (a rename); an existing tree is verified and a
    /// damaged file replaced.
    pub fn materialise(&self) -> Result<(), HostError> {
        let root = &self.embedded_root;
        let fail =
            |e: io::Error| HostError::environment(format!("{}: cannot write embedded files: {e}", root.display()));
        if root.is_dir() {
            for (relative, bytes) in embedded_files() {
                let path = root.join(relative);
                if fs::read(&path).ok().as_deref() != Some(bytes) {
                    replace(&path, bytes).map_err(fail)?;
                }
            }
            return Ok(());
        }
        let parent = root.parent().unwrap_or(root);
        fs::create_dir_all(parent).map_err(fail)?;
        let staged = tempfile::tempdir_in(parent).map_err(fail)?;
        for (relative, bytes) in embedded_files() {
            let path = staged.path().join(relative);
            path.parent().map_or(Ok(()), fs::create_dir_all).map_err(fail)?;
            fs::write(&path, bytes).map_err(fail)?;
        }
        match fs::rename(staged.path(), root) {
            // Someone else was faster; their tree has the same content.
            Err(_) if root.is_dir() => Ok(()),
            other => other.map_err(fail),
        }
    }

    /// Writes the embedded `ops/`, `scripts/` and `kernels/` into `folder`. Nothing is written if any file there
    /// differs from its embedded copy. Returns the relative paths that were written (equal files are left alone).
    pub fn write_out(folder: &Path) -> Result<Vec<String>, HostError> {
        let mut missing = Vec::new();
        for (relative, bytes) in embedded_files() {
            let path = folder.join(&relative);
            match fs::read(&path) {
                Ok(present) if present == bytes => {}
                Ok(_) => {
                    let path = path.display();
                    return Err(HostError::usage(format!(
                        "{path}: differs from popcorn's own copy; nothing was written. Move it away, or init another folder"
                    )));
                }
                Err(e) if e.kind() == io::ErrorKind::NotFound => missing.push((relative, path, bytes)),
                Err(e) => return Err(HostError::environment(format!("{}: cannot read: {e}", path.display()))),
            }
        }
        for (_, path, bytes) in &missing {
            replace(path, bytes)
                .map_err(|e| HostError::environment(format!("{}: cannot write: {e}", path.display())))?;
        }
        Ok(missing.into_iter().map(|(relative, ..)| relative).collect())
    }

    fn on_disk(&self, relative: &str) -> Result<Option<PathBuf>, HostError> {
        let inside = Path::new(relative).components().all(|part| matches!(part, Component::Normal(_)));
        if !inside {
            return Err(HostError::usage(format!("'{relative}' is not a path inside the workspace")));
        }
        Ok(self.root.as_ref().map(|root| root.join(relative)).filter(|path| path.is_file()))
    }
}

/// Writes through a temporary file beside `path`, so that readers see the old or the new content.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().permissions(public_mode()).tempfile_in(folder)?;
    io::Write::write_all(&mut file, bytes)?;
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}

fn public_mode() -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    fs::Permissions::from_mode(0o644)
}

/// Every embedded file with its path relative to a workspace, in sorted order.
fn embedded_files() -> impl Iterator<Item = (String, &'static [u8])> {
    fn walk(prefix: &str, dir: &'static Dir<'static>, files: &mut Vec<(String, &'static [u8])>) {
        for entry in dir.entries() {
            match entry {
                DirEntry::Dir(dir) => walk(prefix, dir, files),
                DirEntry::File(file) => {
                    let name = file.path().file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
                    if !name.starts_with('.') {
                        files.push((format!("{prefix}/{}", file.path().display()), file.contents()));
                    }
                }
            }
        }
    }
    let mut files = Vec::new();
    for (prefix, dir) in FOLDERS {
        walk(prefix, dir, &mut files);
    }
    files.sort();
    files.into_iter()
}

fn embedded_hash() -> String {
    let mut hash = Sha256::new();
    for (path, bytes) in embedded_files() {
        hash.update(path.as_bytes());
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    }
    super::loader::hex12(&hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace(folder: &Path) -> Workspace {
        Workspace::discover(folder, &folder.join("cache"))
    }

    #[test]
    fn the_nearest_parent_with_ops_and_scripts_is_found_and_wins_file_by_file() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b");
        fs::create_dir_all(&deep).unwrap();
        assert_eq!(workspace(&deep).root, None);
        for dir in ["ops", "scripts/op"] {
            fs::create_dir_all(folder.path().join(dir)).unwrap();
        }
        fs::write(folder.path().join("ops/mine.lua"), "return 1").unwrap();
        let found = workspace(&deep);
        assert_eq!(found.root.as_deref(), Some(folder.path()));
        assert_eq!(found.read("ops/mine.lua").unwrap().unwrap().bytes.as_ref(), b"return 1");
        let embedded = found.read("scripts/op/list.lua").unwrap().unwrap();
        assert_eq!(embedded.path, None);
        assert_eq!(found.read("ops/absent.lua").unwrap(), None);
        let names = found.list("ops", ".lua").unwrap();
        assert!(names.contains(&"mine.lua".to_owned()) && names.contains(&"rms_norm.lua".to_owned()), "{names:?}");
    }

    #[test]
    fn paths_that_leave_the_workspace_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["../x.lua", "/etc/passwd", "ops/../../x", "./ops"] {
            assert!(workspace(folder.path()).read(path).is_err(), "{path}");
        }
    }

    #[test]
    fn a_new_file_is_never_written_over_another() {
        let folder = tempfile::tempdir().unwrap();
        let error = workspace(folder.path()).create("ops/mine.lua", "return 1").unwrap_err();
        assert!(error.message.contains("popcorn init"), "{error}");
        for dir in ["ops", "scripts"] {
            fs::create_dir(folder.path().join(dir)).unwrap();
        }
        let workspace = workspace(folder.path());
        assert_eq!(workspace.create("ops/mine.lua", "return 1").unwrap(), folder.path().join("ops/mine.lua"));
        for name in ["ops/mine.lua", "ops/rms_norm.lua"] {
            let error = workspace.create(name, "return 2").unwrap_err();
            assert_eq!(error.kind, crate::host::HostErrorKind::Usage);
            assert!(error.message.starts_with(name), "{error}");
        }
        assert_eq!(fs::read_to_string(folder.path().join("ops/mine.lua")).unwrap(), "return 1");
        assert!(!folder.path().join("ops/rms_norm.lua").exists());
    }

    #[test]
    fn embedded_files_are_written_out_once_and_healed_when_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = workspace(folder.path());
        workspace.materialise().unwrap();
        let file = workspace.embedded_root.join("ops/rms_norm.lua");
        let original = fs::read(&file).unwrap();
        fs::write(&file, "damaged").unwrap();
        workspace.materialise().unwrap();
        assert_eq!(fs::read(&file).unwrap(), original);
        // No temporary folder is left behind.
        assert_eq!(fs::read_dir(folder.path().join("cache/embedded")).unwrap().count(), 1);
    }

    #[test]
    fn init_writes_everything_once_and_never_over_a_changed_file() {
        let folder = tempfile::tempdir().unwrap();
        let written = Workspace::write_out(folder.path()).unwrap();
        assert!(written.contains(&"ops/rms_norm.lua".to_owned()));
        assert_eq!(Workspace::write_out(folder.path()).unwrap(), Vec::<String>::new());
        fs::write(folder.path().join("ops/rms_norm.lua"), "-- mine").unwrap();
        fs::remove_file(folder.path().join("ops/softmax.lua")).unwrap();
        let error = Workspace::write_out(folder.path()).unwrap_err();
        assert!(error.message.contains("ops/rms_norm.lua: differs"), "{error}");
        assert!(!folder.path().join("ops/softmax.lua").exists());
    }

    #[test]
    fn a_cache_that_cannot_be_written_is_an_environment_error() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("cache"), "a file").unwrap();
        let error = workspace(folder.path()).materialise().unwrap_err();
        assert_eq!(error.kind, crate::host::HostErrorKind::Environment);
        assert!(error.message.contains("cannot write embedded files"), "{error}");
    }
}
