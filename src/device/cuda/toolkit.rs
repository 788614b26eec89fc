//! Where CUDA's libraries and headers lie: CUDA_HOME, the usual toolkit folders, and the active Python environment's
//! `nvidia/*` packages, in that order.

use std::path::{Path, PathBuf};

/// Folders that may hold `lib/lib*.so*` and `include/*.h`.
fn roots() -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> =
        ["CUDA_HOME", "CUDA_PATH"].iter().filter_map(std::env::var_os).map(Into::into).collect();
    roots.push("/usr/local/cuda".into());
    let mut versioned: Vec<PathBuf> = children(Path::new("/usr/local"))
        .into_iter()
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("cuda-")))
        .collect();
    versioned.sort_by(|a, b| b.cmp(a));
    roots.extend(versioned);
    roots.push("/opt/cuda".into());
    if let Some(environment) = std::env::var_os("VIRTUAL_ENV") {
        for python in children(&Path::new(&environment).join("lib")) {
            roots.extend(children(&python.join("site-packages/nvidia")));
        }
    }
    roots
}

fn children(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).map(|entries| entries.flatten().map(|entry| entry.path()).collect()).unwrap_or_default()
}

/// Files `lib<name>.so*` in the folders above, best place first.
pub(super) fn libraries(name: &str) -> Vec<PathBuf> {
    let prefix = format!("lib{name}.so");
    let mut found = Vec::new();
    for root in roots() {
        for folder in ["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"] {
            let mut here: Vec<PathBuf> = children(&root.join(folder))
                .into_iter()
                .filter(|path| path.file_name().is_some_and(|file| file.to_string_lossy().starts_with(&prefix)))
                .collect();
            // The shortest name is the link to what the toolkit's owner wants used.
            here.sort_by_key(|path| path.as_os_str().len());
            found.extend(here);
        }
    }
    found
}

/// The folder that holds `cuda_fp16.h`: next to `library` where there is one, else the first of all.
pub(super) fn headers(library: &Path) -> Option<PathBuf> {
    let beside = library.ancestors().skip(1).take(4).map(|folder| folder.join("include"));
    let others = roots().into_iter().flat_map(|root| [root.join("include"), root.join("targets/x86_64-linux/include")]);
    beside.chain(others).find(|folder| folder.join("cuda_fp16.h").is_file())
}
