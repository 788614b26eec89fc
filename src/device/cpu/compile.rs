//! `.cu` to a cached shared object.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::toolchain::{self, HostCompiler, find_compiler};
use super::{context, diagnose, folder, inspect, shim, wrapper};
use crate::device::cache;
use crate::device::entries;
use crate::device::options::{self, CompileOption, environment, source_error};
use crate::device::{CompileError, CompileJob, Compiler};
use crate::model::{KernelInfo, Module};

/// Stack bytes per thread for kernels with small frames.
const BASE_STACK: u64 = 64 << 10;
/// CUDA's limit on local memory per thread.
const MAX_STACK: u64 = 512 << 10;

/// Compiles for the cpu device with the host's C++ compiler.
#[derive(Clone, Debug)]
pub struct CpuCompiler {
    compiler: HostCompiler,
    cpu: String,
}

impl CpuCompiler {
    /// Finds the host compiler; see [`find_compiler`] for where it looks.
    pub fn new(cache_dir: &Path) -> Result<Self, CompileError> {
        find_compiler(cache_dir).map(Self::with_compiler)
    }

    /// Compiles with a compiler that was found before.
    pub fn with_compiler(compiler: HostCompiler) -> Self {
        Self { compiler, cpu: super::host::cpu_identity() }
    }

    /// Everything that decides the result, except the content of included headers.
    fn request(&self, job: &CompileJob, source: &Path, text: &[u8]) -> String {
        let mut all = Vec::new();
        let mut add = |part: &[u8]| {
            all.extend_from_slice(&(part.len() as u64).to_le_bytes());
            all.extend_from_slice(part);
        };
        add(source.as_os_str().as_encoded_bytes());
        add(text);
        add(shim::hash().as_bytes());
        add(wrapper::wrapper(source, &job.kernels).as_bytes());
        add(wrapper::base_flags(&self.compiler).join(" ").as_bytes());
        add(self.compiler.identity.as_bytes());
        add(self.compiler.version.as_bytes());
        add(self.cpu.as_bytes());
        job.options.iter().for_each(|option| add(option.as_bytes()));
        cache::hash_bytes(&all)
    }

    fn build(&self, job: &CompileJob, source: &Path, request: &str, flags: &[String]) -> Result<Module, CompileError> {
        let folder = folder(&job.cache_dir);
        let cannot_write = |error: std::io::Error| {
            environment(format!(
                "cannot write to the compile cache {}: {error}; set POPCORN_CACHE_DIR to another folder",
                folder.display()
            ))
        };
        let headers = fs::create_dir_all(&folder).and_then(|()| shim::unpack(&folder)).map_err(cannot_write)?;
        let context = context::ensure(&self.compiler, &folder)?;
        let scratch = tempfile::Builder::new().prefix("build-").tempdir_in(&folder).map_err(cannot_write)?;
        let file = |name: &str| scratch.path().join(name);
        fs::write(file("kernel.cc"), wrapper::wrapper(source, &job.kernels)).map_err(cannot_write)?;

        let mut compile = Command::new(&self.compiler.path);
        compile.args(wrapper::base_flags(&self.compiler)).arg("-I").arg(&headers).args(flags);
        // The same input gives the same bytes, wherever it was built.
        compile.arg(format!("-ffile-prefix-map={}=popcorn", scratch.path().display()));
        compile
            .args(["-MMD", "-MF"])
            .arg(file("kernel.d"))
            .arg("-c")
            .arg(file("kernel.cc"))
            .arg("-o")
            .arg(file("kernel.o"));
        // Stack usage and other by-products go beside the object.
        compile.current_dir(scratch.path());
        let output = toolchain::run(&mut compile, &self.compiler.path)?;
        if !output.success {
            let known = [source.to_owned()];
            return Err(diagnose::compile_failure(&output, &known, source, &job.kernels, &self.compiler));
        }
        let object = fs::read(file("kernel.o")).map_err(cannot_write)?;
        let rule = fs::read_to_string(file("kernel.d")).map_err(cannot_write)?;
        let mut included = wrapper::dependencies(&rule);
        included.retain(|path| !path.starts_with(&headers) && !path.starts_with(scratch.path()) && path != source);
        included.dedup();

        let needs = inspect::needs(&object).map_err(|error| {
            environment(format!("{} wrote an object that cannot be read: {error}", self.compiler.version))
        })?;
        diagnose::check_needs(&needs, source, &included)?;
        entries::check(&job.kernels, source, &included)?;
        let params = inspect::parameters(&object, job.kernels.len())
            .ok_or_else(|| environment(format!("{} left out the parameter table", self.compiler.version)))?;
        let frame = inspect::largest_frame(&fs::read_to_string(file("kernel.su")).unwrap_or_default());
        if frame > MAX_STACK {
            return Err(source_error(format!(
                "{}: a kernel thread needs {frame} bytes of local memory; CUDA's limit is {MAX_STACK}",
                source.display()
            )));
        }
        let stack = BASE_STACK + (2 * frame).next_multiple_of(8192);

        fs::write(file("begin.s"), wrapper::BEGIN_ASSEMBLY).map_err(cannot_write)?;
        fs::write(file("end.s"), wrapper::end_assembly(&needs.dynamic_shared, &needs.initialisers, stack))
            .map_err(cannot_write)?;
        let mut link = Command::new(&self.compiler.path);
        link.args(["-shared", "-nostdlib", "-Wl,--build-id=none", "-o"]).arg(file("kernel.so"));
        link.args([file("begin.s"), file("kernel.o"), file("end.s"), context]).args(["-lm", "-lc", "-lgcc"]);
        let output = toolchain::run(&mut link, &self.compiler.path)?;
        if !output.success {
            return Err(diagnose::link_failure(&output, source));
        }
        let artifact = fs::read(file("kernel.so")).map_err(cannot_write)?;

        let mut hashed = Vec::with_capacity(included.len());
        for path in included {
            let Some(hash) = cache::hash_file(&path) else { continue };
            hashed.push((path, hash));
        }
        let content: String = hashed.iter().map(|(path, hash)| format!("{} {hash}\n", path.display())).collect();
        let key = cache::hash_bytes(format!("{request}\n{content}").as_bytes());
        let kernels = job.kernels.iter().zip(params).map(|(name, params)| KernelInfo::new(name, params)).collect();
        let module = Module {
            source: job.source.clone(),
            headers: hashed.iter().map(|(path, _)| path.clone()).collect(),
            options: job.options.clone(),
            artifact: folder.join(format!("{key}.so")),
            key: key.clone(),
            kernels,
        };
        cache::store(&folder, request, &cache::Index { key, headers: hashed }, &module, &artifact)
            .map_err(cannot_write)?;
        Ok(module)
    }
}

impl Compiler for CpuCompiler {
    fn compile(&self, job: &CompileJob) -> Result<Module, CompileError> {
        options::check_names(&job.kernels, &job.source)?;
        let source = job
            .source
            .canonicalize()
            .map_err(|error| source_error(format!("{}: cannot read the kernel file: {error}", job.source.display())))?;
        let flags = flags(&options::parse(&job.options, &source)?);
        let text = fs::read(&source)
            .map_err(|error| source_error(format!("{}: cannot read the kernel file: {error}", job.source.display())))?;
        let request = self.request(job, &source, &text);
        let folder = folder(&job.cache_dir);
        if let Some(mut module) = cache::find(&folder, &request).filter(|_| context::path(&folder).exists()) {
            module.source.clone_from(&job.source);
            return Ok(module);
        }
        self.build(job, &source, &request, &flags)
    }

    fn describe(&self) -> String {
        self.compiler.version.clone()
    }
}

/// The host compiler's form of the options.
fn flags(options: &[CompileOption]) -> Vec<String> {
    let flag = |option: &CompileOption| match option {
        CompileOption::Define(define) => format!("-D{define}"),
        CompileOption::Include(dir) => format!("-I{}", dir.display()),
        // Approximate division is what the host can gain too; NaN and infinity keep their meaning, as on a GPU.
        CompileOption::FastMath => "-freciprocal-math".to_owned(),
    };
    options.iter().map(flag).collect()
}

/// Writes what all compilations share ahead of the first one: the headers, the compiler's version, the context
/// library. Costs nothing when done before.
pub fn prepare_runtime(cache_dir: &Path) -> Result<(), CompileError> {
    let compiler = find_compiler(cache_dir)?;
    let folder = folder(cache_dir);
    fs::create_dir_all(&folder)
        .and_then(|()| shim::unpack(&folder))
        .map_err(|error| environment(format!("cannot write to the compile cache {}: {error}", folder.display())))?;
    context::ensure(&compiler, &folder).map(drop)
}
