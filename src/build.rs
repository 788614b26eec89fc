//! Files are embedded in the binary (`host/workspace.rs`); a new one must rebuild it.

fn main() {
    for folder in ["kernels", "ops", "scripts", "src/build.rs"] {
        println!("cargo::rerun-if-changed={folder}");
    }
}
