//! What is rebuilt, and what is not.

use std::path::Path;
use std::time::Instant;

use super::compile_in;
use crate::device::cpu::{CpuCompiler, CpuDevice};
use crate::device::{CompileErrorKind, Device, DeviceErrorKind};
use crate::model::Module;

const KERNEL: &str = "#include \"value.h\"\nextern \"C\" __global__ void k(int* x) { x[0] = VALUE; }\n";

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { dir: tempfile::tempdir().unwrap() };
        place.write("k.cu", KERNEL);
        place.write("value.h", "#define VALUE 1\n");
        place
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn compile(&self) -> Module {
        compile_in(&self.path("cache"), &self.path("k.cu"), &["k"], &[]).unwrap()
    }

    fn built_at(&self, module: &Module) -> std::time::SystemTime {
        std::fs::metadata(&module.artifact).unwrap().modified().unwrap()
    }
}

fn loads(module: &Module) -> bool {
    CpuDevice::new(String::new()).load(module).is_ok()
}

#[test]
fn changed_sources_headers_and_options_are_noticed_and_old_ones_found() {
    let place = Place::new();
    let first = place.compile();
    let when = place.built_at(&first);
    let started = Instant::now();
    assert_eq!(place.compile(), first);
    eprintln!("cache hit, compiler lookup included: {:?}", started.elapsed());
    assert_eq!(place.built_at(&first), when);
    place.write("value.h", "#define VALUE 2\n");
    let second = place.compile();
    assert_ne!(second.key, first.key);
    place.write("k.cu", &format!("{KERNEL}\n"));
    assert_ne!(place.compile().key, second.key);
    let with_option = compile_in(&place.path("cache"), &place.path("k.cu"), &["k"], &["-DX=1"]).unwrap();
    assert_ne!(with_option.key, place.compile().key);
    assert!(loads(&with_option));
}

#[test]
fn damaged_entries_are_rebuilt_and_a_damaged_artifact_does_not_load() {
    let place = Place::new();
    let module = place.compile();
    let whole = std::fs::read(&module.artifact).unwrap();
    for damage in [&b""[..], &whole[..whole.len() / 2], b"not an object"] {
        std::fs::write(&module.artifact, damage).unwrap();
        let error = CpuDevice::new(String::new()).load(&module).unwrap_err();
        assert_eq!(error.kind, DeviceErrorKind::Environment);
        assert!(error.message.contains(&*module.artifact.to_string_lossy()), "{error}");
        assert_eq!(place.compile(), module);
        assert_eq!(std::fs::read(&module.artifact).unwrap(), whole);
    }
    for entry in std::fs::read_dir(place.path("cache/cpu")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "json") {
            std::fs::write(&path, "{\"torn").unwrap();
        }
    }
    assert_eq!(place.compile(), module);
    std::fs::remove_file(&module.artifact).unwrap();
    assert!(!loads(&module));
    assert!(loads(&place.compile()));
}

#[test]
fn two_at_once_agree() {
    let place = Place::new();
    let modules: Vec<Module> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| place.compile())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(modules.windows(2).all(|pair| pair[0] == pair[1]));
    assert!(loads(&modules[0]));
    let leftovers = std::fs::read_dir(place.path("cache/cpu")).unwrap().filter(|entry| {
        let name = entry.as_ref().unwrap().file_name().to_string_lossy().into_owned();
        name.starts_with("build-") || name.starts_with(".tmp")
    });
    assert_eq!(leftovers.count(), 0);
}

#[test]
fn a_cache_that_cannot_be_written_is_an_environment_fault() {
    let place = Place::new();
    place.write("cache", "a file where the folder should be");
    let error = compile_in(&place.path("cache"), &place.path("k.cu"), &["k"], &[]).unwrap_err();
    assert_eq!(error.kind, CompileErrorKind::Environment);
    assert!(error.message.contains(&*place.path("cache").to_string_lossy()), "{error}");
}

#[test]
fn a_machine_without_a_compiler_is_told_how_to_get_one() {
    let error = super::super::toolchain::locate(std::ffi::OsStr::new("/nowhere:/dev/null")).unwrap_err();
    assert_eq!(error.kind, CompileErrorKind::Environment);
    assert!(error.message.contains("no C++ compiler found") && error.message.contains("apt install g++"), "{error}");
}

#[test]
fn what_all_compilations_share_is_made_ahead() {
    let place = Place::new();
    let cache = place.path("cache");
    super::super::prepare_runtime(&cache).unwrap();
    let before = std::fs::read_dir(cache.join("cpu")).unwrap().count();
    super::super::prepare_runtime(&cache).unwrap();
    assert_eq!(std::fs::read_dir(cache.join("cpu")).unwrap().count(), before);
    assert!(loads(&place.compile()));
}

#[test]
fn a_missing_source_is_the_candidates_fault() {
    let error = compile_in(&super::cache_dir(), Path::new("/nowhere/k.cu"), &["k"], &[]).unwrap_err();
    assert_eq!(error.kind, CompileErrorKind::Source);
    assert!(error.message.starts_with("/nowhere/k.cu: "), "{error}");
}

#[test]
fn a_full_disk_is_an_environment_fault() {
    // /dev/full as the source of the failure needs a mount; a compiler that says so is as good.
    let place = Place::new();
    let script = place.path("c++");
    std::fs::write(&script, "#!/bin/sh\n[ \"$1\" = --version ] && { echo 'fake 1.0'; exit; }\necho 'k.s: No space left on device' >&2\nexit 1\n").unwrap();
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let compiler = CpuCompiler::with_compiler(
        super::super::toolchain::find_named(script.as_os_str(), &place.path("cache")).unwrap(),
    );
    let job = crate::device::CompileJob {
        source: place.path("k.cu"),
        options: vec![],
        kernels: vec!["k".into()],
        cache_dir: place.path("cache"),
    };
    let error = crate::device::Compiler::compile(&compiler, &job).unwrap_err();
    assert_eq!(error.kind, CompileErrorKind::Environment);
    assert!(error.message.contains("no space left"), "{error}");
    let missing =
        super::super::toolchain::find_named(place.path("none").as_os_str(), &place.path("cache")).unwrap_err();
    assert!(missing.message.contains("no such program"), "{missing}");
}
