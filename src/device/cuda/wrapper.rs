//! The translation unit that NVRTC is given: the user's file by its path, then a table of each kernel's parameters as
//! a variable of the cubin, where the host reads it without running anything.

use std::path::Path;

/// Pseudo file name of the tables: errors there are about the names asked for.
pub(super) const ENTRY_LIST: &str = "popcorn-kernel-list";

/// Pseudo file name of the types behind the tables: an error there means that the user's file did not end well.
pub(super) const TYPES: &str = "popcorn-params.cuh";

/// Types to numbers, as `crate::device::params` reads them.
const TABLES: &str = include_str!("params.cuh");

/// The text for some kernels of a file.
pub(super) fn wrapper(source: &Path, kernels: &[String]) -> String {
    let quoted = source.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
    let mut text = format!("#include \"{quoted}\"\n#line 1 \"{TYPES}\"\n{TABLES}");
    for (index, name) in kernels.iter().enumerate() {
        text += &format!(
            "#line {} \"{ENTRY_LIST}\"\n__device__ auto {} = popcorn::table<decltype(&{name})>::make({index});\n",
            index + 1,
            table(index)
        );
    }
    text
}

/// The variable that describes a kernel.
pub(super) fn table(index: usize) -> String {
    format!("popcorn_params_{index}")
}
