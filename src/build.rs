//! Rebuilds when a file that the binary embeds appears, changes or goes away.

fn main() {
    for folder in ["ops", "scripts", "kernels"] {
        println!("cargo::rerun-if-changed={folder}");
    }
}
