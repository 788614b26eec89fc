//! What the compiler is given besides the user's file: the wrapper, the options, two small assembly files.

use std::path::{Path, PathBuf};

use super::toolchain::HostCompiler;

/// Pseudo file name of the entry list in the wrapper: errors there are about the names asked for.
pub(super) const ENTRY_LIST: &str = "popcorn-kernel-list";
/// Bytes of dynamic shared memory that a block may ask for: 227 KiB, as on compute capability 9.0.
pub(super) const MAX_DYNAMIC_SHARED: u32 = 232_448;
/// Section of the objects that describes parameters.
pub(super) const PARAM_SECTION: &str = ".popcorn.params";

/// Options of every compilation. Strict aliasing is off because kernels pun through `uint4`; loop optimisations that
/// trust array bounds would turn an overrun into an endless loop.
pub(super) fn base_flags(compiler: &HostCompiler) -> Vec<&'static str> {
    let mut flags = vec![
        "-x",
        "c++",
        "-std=c++17",
        "-O3",
        if cfg!(target_arch = "x86_64") { "-march=native" } else { "-mcpu=native" },
        "-g1",
        "-w",
        "-fPIC",
        "-ftls-model=local-dynamic",
        "-fvisibility=hidden",
        "-fno-strict-aliasing",
        "-fwrapv",
        "-fno-exceptions",
        "-fno-rtti",
        "-fno-math-errno",
        "-fno-trapping-math",
        "-fsigned-char",
        "-fstack-clash-protection",
        "-fstack-usage",
        "-nostdinc",
        "-nostdinc++",
        "-fdiagnostics-color=never",
        "-fno-diagnostics-show-option",
    ];
    if compiler.is_clang {
        flags.push("-ferror-limit=20");
    } else {
        flags.extend([
            "-fmax-errors=20",
            "-fno-extern-tls-init",
            "-fno-gnu-unique",
            "-fno-aggressive-loop-optimizations",
        ]);
    }
    flags
}

/// The translation unit: shim, the user's file by its path, entries.
pub(super) fn wrapper(source: &Path, kernels: &[String]) -> String {
    let quoted = source.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
    let mut text = format!(
        "#include \"simt.h\"\n#pragma GCC visibility push(hidden)\n#include \"{quoted}\"\n#include \"simt/module.h\"\n"
    );
    for (index, name) in kernels.iter().enumerate() {
        text += &format!(
            "#line {} \"{ENTRY_LIST}\"\n__attribute__((section(\"{PARAM_SECTION}\"), used)) static const auto \
             simt_params_{index} = simt_launcher<(&{name})>::describe({index});\n",
            index + 1
        );
    }
    text += "static const simt_entry simt_entries[] = {\n";
    for (index, name) in kernels.iter().enumerate() {
        text += &format!("#line {} \"{ENTRY_LIST}\"\n    simt_launcher<(&{name})>::entry(\"{name}\"),\n", index + 1);
    }
    text += &format!(
        "}};\n#pragma GCC visibility pop\nextern \"C\" __attribute__((visibility(\"default\"))) const simt_module \
         popcorn_module = {{SIMT_ABI, {}, simt_entries, &simt_host, &simt_block_dim, &simt_grid_dim, \
         simt_locate_shared, simt_limits}};\n",
        kernels.len()
    );
    text
}

/// Linked before the kernels: a canary below their shared variables.
pub(super) const BEGIN_ASSEMBLY: &str = "\
.section .tbss,\"awT\",@nobits
.balign 64
.globl simt_shared_begin
.hidden simt_shared_begin
.type simt_shared_begin,@object
.size simt_shared_begin,64
simt_shared_begin:
.zero 64
.section .note.GNU-stack,\"\",@progbits
";

/// Linked after the kernels: canary and pad (unaligned, so that no gap hides an overrun), the dynamic shared memory under every name that the kernels give it,
/// initialisers that do nothing, and two numbers.
pub(super) fn end_assembly(dynamic: &[String], initialisers: &[String], stack_bytes: u64) -> String {
    let object = |name: &str| format!(".globl {name}\n.hidden {name}\n.type {name},@object\n{name}:\n");
    let dynamic_bytes = if dynamic.is_empty() { 0 } else { u64::from(MAX_DYNAMIC_SHARED) };
    let function = |name: &String| format!(".globl {name}\n.hidden {name}\n.type {name},@function\n{name}:\nret\n");
    let functions: String = initialisers.iter().map(function).collect();
    let names: String = dynamic.iter().map(|name| object(name)).collect();
    format!(
        ".section .tbss,\"awT\",@nobits\n{}.zero 64\n.zero 16384\n\
         .section .tbss.dynamic,\"awT\",@nobits\n.balign 1024\n{names}{}.zero {dynamic_bytes}\n.zero 64\n.zero 16384\n\
         .text\n{functions}.section .rodata\n.balign 8\n{}.quad {stack_bytes}\n.quad {dynamic_bytes}\n\
         .section .note.GNU-stack,\"\",@progbits\n",
        object("simt_shared_end"),
        object("simt_dynamic"),
        object("simt_limits"),
    )
}

/// Files that a `-MMD` dependency rule names, without the target.
pub(super) fn dependencies(rule: &str) -> Vec<PathBuf> {
    let joined = rule.replace("\\\n", " ");
    let Some((_, list)) = joined.split_once(": ") else { return Vec::new() };
    let mut files = Vec::new();
    let mut name = String::new();
    let mut chars = list.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if matches!(chars.peek(), Some(' ' | '#' | '\\')) => name.extend(chars.next()),
            '$' if chars.peek() == Some(&'$') => name.extend(chars.next()),
            c if c.is_whitespace() => {
                if !name.is_empty() {
                    files.push(PathBuf::from(std::mem::take(&mut name)));
                }
            }
            c => name.push(c),
        }
    }
    if !name.is_empty() {
        files.push(PathBuf::from(name));
    }
    files
}
