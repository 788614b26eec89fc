//! The embedded CUDA headers, and their copy on disk that the compiler reads.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use sha2::{Digest, Sha256};

use crate::device::cache;

macro_rules! files {
    ($($name:literal),* $(,)?) => { [$(($name, include_str!(concat!("shim/", $name)))),*] };
}

const FILES: [(&str, &str); 17] = files![
    "simt.h",
    "simt/base.h",
    "simt/vector_types.h",
    "simt/abi.h",
    "simt/sync.h",
    "simt/atomic.h",
    "simt/math.h",
    "simt/integer.h",
    "simt/memory.h",
    "simt/unsupported.h",
    "simt/entry.h",
    "simt/qualifiers.h",
    "simt/module.h",
    "simt/narrow.h",
    "cuda_fp16.h",
    "cuda_bf16.h",
    "math_constants.h",
];
const COOPERATIVE: &str = include_str!("shim/cooperative_groups.h");

/// Headers whose content is built in, so that including them is harmless.
const EMPTY: [&str; 25] = [
    "assert.h",
    "cassert",
    "cfloat",
    "climits",
    "cmath",
    "cooperative_groups/reduce.h",
    "cooperative_groups/scan.h",
    "cstddef",
    "cstdint",
    "cstdio",
    "cstdlib",
    "cstring",
    "cuda.h",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "device_launch_parameters.h",
    "float.h",
    "limits.h",
    "math.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "string.h",
    "vector_types.h",
];

fn files() -> impl Iterator<Item = (&'static str, &'static str)> {
    FILES
        .into_iter()
        .chain([("cooperative_groups.h", COOPERATIVE)])
        .chain(EMPTY.into_iter().map(|name| (name, "#pragma once\n")))
}

/// Hash of all headers.
pub(super) fn hash() -> &'static str {
    static HASH: OnceLock<String> = OnceLock::new();
    HASH.get_or_init(|| {
        let mut sha = Sha256::new();
        for (name, text) in files() {
            sha.update(format!("{name}\0{}\0{text}", text.len()));
        }
        cache::hex(&sha.finalize()[..8])
    })
}

/// Name of the folder, so that line tables show which files are ours.
fn folder_name() -> String {
    format!("popcorn-shim-{}", hash())
}

/// Whether a source path is one of our headers.
pub(super) fn is_shim_path(path: &str) -> bool {
    path.contains("/popcorn-shim-")
}

/// Writes the headers below `cache` unless they are there; returns their folder.
pub(super) fn unpack(cache: &Path) -> io::Result<PathBuf> {
    let folder = cache.join(folder_name());
    if folder.join("complete").exists() {
        return Ok(folder);
    }
    for (name, text) in files() {
        cache::write_atomic(&folder.join(name), text.as_bytes())?;
    }
    cache::write_atomic(&folder.join("complete"), b"")?;
    Ok(folder)
}
