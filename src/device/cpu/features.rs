//! Names of CUDA features that cannot run on the cpu device, as they show up in a compiler's words.

use std::sync::LazyLock;

use regex::Regex;

/// Headers by prefix, and what they stand for.
const HEADERS: [(&str, &str); 14] = [
    ("mma.h", "tensor-core fragments (wmma)"),
    ("cuda/pipeline", "asynchronous copy pipelines"),
    ("cuda_pipeline", "asynchronous copy pipelines"),
    ("cuda/barrier", "asynchronous barriers"),
    ("cuda_awbarrier", "asynchronous barriers"),
    ("cuda/ptx", "PTX wrappers and bulk copies (TMA)"),
    ("cudaTypedefs.h", "tensor maps (TMA)"),
    ("cuda_fp8", "fp8 types"),
    ("cuda_fp6", "fp6 types"),
    ("cuda_fp4", "fp4 types"),
    ("cub/", "CUB"),
    ("thrust/", "Thrust"),
    ("cutlass/", "CUTLASS"),
    ("cute/", "CuTe"),
];

/// Identifiers by prefix, and the feature they belong to.
const NAMES: [(&str, &str); 19] = [
    ("nvcuda", "tensor-core fragments (wmma)"),
    ("wmma", "tensor-core fragments (wmma)"),
    ("__nv_fp8", "fp8 types"),
    ("__pipeline_", "asynchronous copies (__pipeline_memcpy_async)"),
    ("__mbarrier", "asynchronous barriers"),
    ("cp_async", "asynchronous copies"),
    ("CUtensorMap", "tensor maps (TMA)"),
    ("cuTensorMap", "tensor maps (TMA)"),
    ("memcpy_async", "asynchronous copies"),
    ("__cluster", "thread block clusters"),
    ("this_cluster", "thread block clusters"),
    ("cluster_group", "thread block clusters"),
    ("tex", "textures"),
    ("surf", "surfaces"),
    ("cudaMalloc", "the CUDA runtime API in device code"),
    ("cudaLaunch", "dynamic parallelism"),
    ("cudaMem", "the CUDA runtime API in device code"),
    ("cudaStream", "the CUDA runtime API in device code"),
    ("cudaDevice", "the CUDA runtime API in device code"),
];

static UNDECLARED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?:use of undeclared identifier|unknown type name|no member named)? ?['‘](?P<name>[A-Za-z_][\w:]*)(?:<[^'’]*>)?['’](?: was not declared| has not been declared| does not name a type| is not a|$| in |; did you mean)").ok()
});

static MISSING_FILE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^['‘]?(?P<file>[^:'’]+)['’]?(?:: No such file or directory| file not found)").ok());

fn unsupported(feature: &str) -> String {
    format!("unsupported on the cpu device: {feature}")
}

/// The message in CUDA terms, where the compiler's own would mislead. `line` is the source line at fault.
pub(super) fn explain(text: &str, line: &str) -> Option<String> {
    if let Some((_, ours)) = text.split_once("unsupported on the cpu device: ") {
        return Some(unsupported(ours.trim_end_matches(['"', '\'', '’'])));
    }
    if let Some(file) = MISSING_FILE.as_ref()?.captures(text).map(|found| found["file"].to_owned()) {
        return Some(missing_header(&file));
    }
    if line.contains("<<<") {
        return Some(unsupported("dynamic parallelism (a launch with <<<…>>> inside device or host code)"));
    }
    if text.contains("exception handling disabled") || text.contains("with exceptions disabled") {
        return Some("exceptions are not allowed in device code".to_owned());
    }
    let name = UNDECLARED.as_ref()?.captures(text)?["name"].to_owned();
    if let Some((_, feature)) = NAMES.iter().find(|(prefix, _)| name.starts_with(prefix)) {
        return Some(unsupported(&format!("{feature}, here '{name}'")));
    }
    if name == "std" || name.starts_with("std::") {
        return Some("the standard library is not available in device code".to_owned());
    }
    if name.starts_with("__") {
        return Some(format!("unknown or unsupported intrinsic '{name}' on the cpu device"));
    }
    if text.contains("declared") {
        return Some(format!("'{name}' is not declared"));
    }
    None
}

fn missing_header(file: &str) -> String {
    if let Some((_, feature)) = HEADERS.iter().find(|(prefix, _)| file.starts_with(prefix)) {
        return unsupported(&format!("{feature}, #include <{file}>"));
    }
    if file.starts_with("cuda/") {
        return unsupported(&format!("libcu++, #include <{file}>"));
    }
    if !file.contains('.') && !file.contains('/') {
        return format!("the standard library header <{file}> is not available in device code");
    }
    format!("header '{file}' not found; add its folder with -I")
}
