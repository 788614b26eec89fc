//! `.cu` to a cached cubin.

use std::fs;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSection, ObjectSymbol};

use super::nvrtc::{CompileFailure, Compiled, Nvrtc};
use super::wrapper;
use super::{includes, log};
use crate::device::options::{self, CompileOption, environment, source_error};
use crate::device::{CompileError, CompileErrorKind, CompileJob, Compiler, cache, entries, params};
use crate::model::{KernelInfo, Module, ParamInfo};

/// Compiles for one GPU architecture with NVRTC; needs no GPU.
pub struct CudaCompiler {
    nvrtc: Nvrtc,
    /// `sm_90a`
    architecture: String,
}

impl CudaCompiler {
    /// Finds NVRTC. `driver` is the newest CUDA that the driver runs (`cuDriverGetVersion`); None where the result is not
    /// to be run here.
    pub fn new(architecture: &str, driver: Option<i32>) -> Result<Self, CompileError> {
        let nvrtc = Nvrtc::find(driver).map_err(environment)?;
        Ok(Self { nvrtc, architecture: architecture.to_owned() })
    }

    fn flags(&self, options: &[CompileOption], source: &Path) -> Vec<String> {
        let mut flags = vec![
            format!("--gpu-architecture={}", self.architecture),
            "--std=c++17".to_owned(),
            "--generate-line-info".to_owned(),
            "--disable-warnings".to_owned(),
        ];
        flags.extend(options.iter().map(|option| match option {
            CompileOption::Define(define) => format!("--define-macro={define}"),
            CompileOption::Include(folder) => format!("--include-path={}", folder.display()),
            CompileOption::FastMath => "--use_fast_math".to_owned(),
        }));
        let folders = [source.parent().map(Path::to_owned), self.nvrtc.headers.clone()];
        flags.extend(folders.into_iter().flatten().map(|folder| format!("--include-path={}", folder.display())));
        flags
    }

    /// Everything that decides the result, except the content of included files.
    fn request(&self, source: &Path, text: &[u8], unit: &str, flags: &[String]) -> String {
        let (major, minor) = self.nvrtc.version;
        let mut all = Vec::new();
        let version = format!("nvrtc {major}.{minor}");
        let parts = [source.as_os_str().as_encoded_bytes(), text, unit.as_bytes(), version.as_bytes()];
        for part in parts.into_iter().chain(flags.iter().map(String::as_bytes)) {
            all.extend_from_slice(&(part.len() as u64).to_le_bytes());
            all.extend_from_slice(part);
        }
        cache::hash_bytes(&all)
    }

    fn build(
        &self,
        job: &CompileJob,
        source: &Path,
        unit: &str,
        flags: &[String],
        included: &[PathBuf],
    ) -> Result<(Compiled, Vec<Vec<ParamInfo>>), CompileError> {
        let files: Vec<PathBuf> = std::iter::once(source.to_owned()).chain(included.iter().cloned()).collect();
        let kernels = job.kernels.len();
        let tables = (0..kernels).map(|index| format!("&{}", wrapper::table(index)));
        let expressions: Vec<String> = job.kernels.iter().cloned().chain(tables).collect();
        let mut compiled = match self.nvrtc.compile(unit, "popcorn-kernels.cu", flags, &expressions) {
            Ok(compiled) => compiled,
            Err(CompileFailure::Broken(why)) => return Err(environment(why)),
            Err(CompileFailure::Log(text)) => {
                let mut error = log::failure(&text, &files, source, &job.kernels, self.nvrtc.headers.is_some());
                if error.kind == CompileErrorKind::Environment {
                    error.message = format!("{}: {}", self.describe(), error.message);
                }
                return Err(error);
            }
        };
        compiled.symbols.truncate(kernels);
        entries::check(&job.kernels, source, included)?;
        let damaged = |what: &str| environment(format!("{}: {what}", self.describe()));
        let file = object::File::parse(&*compiled.cubin)
            .map_err(|error| damaged(&format!("wrote a cubin that cannot be read: {error}")))?;
        if let Some((index, symbol)) = compiled
            .symbols
            .iter()
            .enumerate()
            .find(|(_, symbol)| file.section_by_name(&format!(".text.{symbol}")).is_none())
        {
            return Err(damaged(&format!("left out kernel {} ({symbol})", job.kernels[index])));
        }
        let params = tables_of(&file, kernels).ok_or_else(|| damaged("left out the parameter tables"))?;
        Ok((compiled, params))
    }
}

/// The parameter tables that the wrapper put into a cubin.
fn tables_of(file: &object::File<'_>, kernels: usize) -> Option<Vec<Vec<ParamInfo>>> {
    let section = file
        .symbols()
        .find(|symbol| symbol.name().is_ok_and(|name| name == wrapper::table(0)))
        .and_then(|symbol| symbol.section_index())?;
    params::read(file.section_by_index(section).ok()?.data().ok()?, kernels)
}

impl Compiler for CudaCompiler {
    fn compile(&self, job: &CompileJob) -> Result<Module, CompileError> {
        options::check_names(&job.kernels, &job.source)?;
        let unreadable = |error: std::io::Error| {
            source_error(format!("{}: cannot read the kernel file: {error}", job.source.display()))
        };
        let source = job.source.canonicalize().map_err(unreadable)?;
        let options = options::parse(&job.options, &source)?;
        let flags = self.flags(&options, &source);
        let text = fs::read(&source).map_err(unreadable)?;
        let unit = wrapper::wrapper(&source, &job.kernels);
        let request = self.request(&source, &text, &unit, &flags);
        let folder = job.cache_dir.join("cuda");
        if let Some(mut module) = cache::find(&folder, &request) {
            module.source.clone_from(&job.source);
            return Ok(module);
        }
        let included = includes::follow(&source, &options, self.nvrtc.headers.as_deref())?;
        let hash = |path: &PathBuf| cache::hash_file(path).map(|hash| (path.clone(), hash));
        let hashed: Vec<(PathBuf, String)> = included.iter().filter_map(hash).collect();
        let (compiled, params) = self.build(job, &source, &unit, &flags, &included)?;
        let content: String = hashed.iter().map(|(path, hash)| format!("{} {hash}\n", path.display())).collect();
        let key = cache::hash_bytes(format!("{request}\n{content}").as_bytes());
        let kernels = job.kernels.iter().zip(compiled.symbols).zip(params);
        let module = Module {
            source: job.source.clone(),
            headers: included,
            options: job.options.clone(),
            artifact: folder.join(format!("{key}.cubin")),
            key: key.clone(),
            kernels: kernels
                .map(|((name, symbol), params)| KernelInfo { name: name.clone(), symbol: Some(symbol), params })
                .collect(),
        };
        cache::store(&folder, &request, &cache::Index { key, headers: hashed }, &module, &compiled.cubin).map_err(
            |error| {
                environment(format!(
                    "cannot write to the compile cache {}: {error}; set POPCORN_CACHE_DIR to another folder",
                    folder.display()
                ))
            },
        )?;
        Ok(module)
    }

    fn describe(&self) -> String {
        let (major, minor) = self.nvrtc.version;
        format!("NVRTC {major}.{minor} for {}", self.architecture)
    }
}
