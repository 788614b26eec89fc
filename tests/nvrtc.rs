//! Every registered candidate compiles for real GPU architectures. Needs NVRTC, not a GPU; says so by name and skips
//! where there is none.

use std::process::Command;

#[test]
fn every_kernel_compiles_for_gpu_architectures() {
    let cache = tempfile::tempdir().expect("a temporary folder");
    let architectures = ["sm_80", "sm_90", "sm_100"];
    let output = Command::new(env!("CARGO_BIN_EXE_popcorn"))
        .args(["op", "check", "--all", "--compile-only", "--json", "--arch", &architectures.join(",")])
        .env("POPCORN_CACHE_DIR", cache.path())
        .output()
        .expect("popcorn starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = report["compiled"].as_array().expect("rows");
    let missing = |row: &serde_json::Value| row["fault"]["reason"].as_str().is_some_and(|why| why.contains("no NVRTC"));
    if !rows.is_empty() && rows.iter().all(missing) {
        println!("SKIPPED every_kernel_compiles_for_gpu_architectures: {}", rows[0]["fault"]["reason"]);
        return;
    }
    assert!(output.status.success(), "{stderr}");
    // Registered today: no fewer may be found tomorrow.
    assert!(rows.len() >= 11 * architectures.len(), "{} rows", rows.len());
    for row in rows {
        assert!(row["ok"] == true && row["kernels"].as_u64() > Some(0), "{row}");
    }
}
