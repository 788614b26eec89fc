//! The compile cache: an index per request, then an artifact and a manifest per content key.
//!
//! `<request>.index.json` says which headers a compilation read and with what content; if they still match, it names
//! the content key of `<key>.so` (or `.cubin`) and `<key>.json`. Writers rename finished files into place, so that readers in any
//! process see all of a file or none.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::model::Module;

/// What one compilation depended on.
#[derive(Serialize, Deserialize)]
pub(in crate::device) struct Index {
    /// Content key of the result.
    pub(in crate::device) key: String,
    /// Files that the compiler read besides ours, with the hash of their content.
    pub(in crate::device) headers: Vec<(PathBuf, String)>,
}

/// What lies beside an artifact.
#[derive(Serialize, Deserialize)]
pub(in crate::device) struct Manifest {
    /// Hash of the artifact's bytes, so that a damaged one is noticed.
    artifact_hash: String,
    module: Module,
}

/// Hexadecimal digits.
pub(in crate::device) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Hash of a file's content; None if it cannot be read.
pub(in crate::device) fn hash_file(path: &Path) -> Option<String> {
    Some(hash_bytes(&std::fs::read(path).ok()?))
}

/// Hash of some bytes.
pub(in crate::device) fn hash_bytes(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes)[..16])
}

/// Writes a file under a temporary name and renames it into place, creating its folder if need be.
pub(in crate::device) fn write_atomic(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

fn index_path(folder: &Path, request: &str) -> PathBuf {
    folder.join(format!("{request}.index.json"))
}

fn manifest_path(folder: &Path, key: &str) -> PathBuf {
    folder.join(format!("{key}.json"))
}

/// The cached module of a request, if its headers are unchanged and its artifact is whole.
pub(in crate::device) fn find(folder: &Path, request: &str) -> Option<Module> {
    let index: Index = serde_json::from_slice(&std::fs::read(index_path(folder, request)).ok()?).ok()?;
    if !index.headers.iter().all(|(path, hash)| hash_file(path).as_ref() == Some(hash)) {
        return None;
    }
    let manifest: Manifest = serde_json::from_slice(&std::fs::read(manifest_path(folder, &index.key)).ok()?).ok()?;
    let artifact = &manifest.module.artifact;
    let ours = artifact.parent() == Some(folder) && artifact.file_stem()?.to_str() == Some(&index.key);
    (ours && hash_file(artifact)? == manifest.artifact_hash).then_some(manifest.module)
}

/// Stores a compilation: artifact, then manifest, then index, so that each is there when the next names it.
pub(in crate::device) fn store(
    folder: &Path,
    request: &str,
    index: &Index,
    module: &Module,
    artifact: &[u8],
) -> io::Result<()> {
    let manifest = Manifest { artifact_hash: hash_bytes(artifact), module: module.clone() };
    write_atomic(&module.artifact, artifact)?;
    write_atomic(&manifest_path(folder, &index.key), &serde_json::to_vec(&manifest)?)?;
    write_atomic(&index_path(folder, request), &serde_json::to_vec(index)?)
}
