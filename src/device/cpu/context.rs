//! The one variable that every kernel reads all the time: where its thread is.
//!
//! It lives in a library of its own with nothing else. Being small it fits the room that the loader keeps in each
//! thread's fixed storage, so that `threadIdx` is one load; within a kernel object, beside its shared memory, each
//! access could cost a call.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::toolchain::{self, HostCompiler};
use super::{diagnose, shim};
use crate::device::CompileError;
use crate::device::cache;
use crate::device::options::environment;

const ASSEMBLY: &str = "\
.section .tbss,\"awT\",@nobits
.balign 64
.globl simt_here
.type simt_here,@object
.size simt_here,64
simt_here:
.zero 64
.section .note.GNU-stack,\"\",@progbits
";

/// File and shared-object name; a changed shim gets another.
fn file_name() -> String {
    format!("popcorn-simt-{}-{}.so", std::env::consts::ARCH, shim::hash())
}

/// Where the library lies in the device's cache folder.
pub(super) fn path(folder: &Path) -> PathBuf {
    folder.join(file_name())
}

/// Builds the library unless it is there.
pub(super) fn ensure(compiler: &HostCompiler, folder: &Path) -> Result<PathBuf, CompileError> {
    let library = path(folder);
    if library.exists() {
        return Ok(library);
    }
    let failed =
        |error: io::Error| environment(format!("cannot write to the compile cache {}: {error}", folder.display()));
    let scratch = tempfile::Builder::new().prefix("build-").tempdir_in(folder).map_err(failed)?;
    let (source, built) = (scratch.path().join("context.s"), scratch.path().join("context.so"));
    std::fs::write(&source, ASSEMBLY).map_err(failed)?;
    let mut link = Command::new(&compiler.path);
    link.args(["-shared", "-nostdlib", "-Wl,--build-id=none"]).arg(format!("-Wl,-soname,{}", file_name()));
    let output = toolchain::run(link.arg("-o").arg(&built).arg(&source), &compiler.path)?;
    if !output.success {
        let why =
            diagnose::machine_failure(&output).unwrap_or_else(|| output.text.lines().collect::<Vec<_>>().join("; "));
        return Err(environment(format!("{} cannot link a library: {why}", compiler.path.display())));
    }
    std::fs::read(&built).and_then(|bytes| cache::write_atomic(&library, &bytes)).map_err(failed)?;
    Ok(library)
}
