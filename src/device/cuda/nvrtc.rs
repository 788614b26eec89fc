//! NVRTC, opened by path. Function types as in <https://docs.nvidia.com/cuda/nvrtc/index.html>.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::PathBuf;

use libloading::Library;

use super::toolkit;

/// A usable NVRTC and the headers that go with it.
pub(super) struct Nvrtc {
    library: Library,
    pub(super) path: PathBuf,
    /// Of the CUDA release, e.g. (13, 0).
    pub(super) version: (i32, i32),
    /// Folder of `cuda_fp16.h`; None where there is none.
    pub(super) headers: Option<PathBuf>,
}

/// What one compilation gives.
pub(super) struct Compiled {
    pub(super) cubin: Vec<u8>,
    /// Names in the cubin, one per name expression.
    pub(super) symbols: Vec<String>,
}

/// The compiler's log, or why it could not be asked.
pub(super) enum CompileFailure {
    Log(String),
    Broken(String),
}

type Program = *mut c_void;

pub(super) const INSTALL: &str = "install a CUDA toolkit, or `pip install nvidia-cuda-nvrtc-cu12 nvidia-cuda-runtime-cu12` in the \
                       active Python environment";

impl Nvrtc {
    /// The first NVRTC whose CUDA major version is not above `driver` (`cuDriverGetVersion`: 1000 major + 10 minor); a
    /// newer one makes cubins that the driver may refuse. None stands for no driver.
    pub(super) fn find(driver: Option<i32>) -> Result<Self, String> {
        let mut newer = None;
        let mut failed = None;
        let named = ["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"].map(PathBuf::from);
        for path in named.into_iter().chain(toolkit::libraries("nvrtc")) {
            match Self::open(path) {
                Ok(found) if driver.is_none_or(|driver| found.version.0 <= driver / 1000) => return Ok(found),
                Ok(found) => newer = newer.or(Some(found)),
                Err(why) => failed = Some(why),
            }
        }
        if let (Some(found), Some(driver)) = (newer, driver) {
            let (major, minor) = found.version;
            return Err(format!(
                "NVRTC {major}.{minor} ({}) is newer than the driver, which runs CUDA {}.{}; install an NVRTC of CUDA {} \
                 or a newer driver",
                found.path.display(),
                driver / 1000,
                driver % 1000 / 10,
                driver / 1000
            ));
        }
        let detail = failed.map_or_else(String::new, |why| format!(" ({why})"));
        Err(format!("NVRTC (libnvrtc.so) was not found{detail}; {INSTALL}"))
    }

    fn open(path: PathBuf) -> Result<Self, String> {
        // SAFETY: NVRTC's initialisers have no requirements.
        let library = unsafe { Library::new(&path) }.map_err(|error| error.to_string())?;
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the documented type; both pointers are valid.
        let status = unsafe {
            let version = library
                .get::<unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int>(b"nvrtcVersion\0")
                .map_err(|error| error.to_string())?;
            version(&raw mut major, &raw mut minor)
        };
        // nvrtcGetCUBIN, the newest function used, came with CUDA 11.1.
        if status != 0 || (major, minor) < (11, 1) {
            return Err(format!("{}: NVRTC {major}.{minor} is too old, 11.1 is needed", path.display()));
        }
        let headers = toolkit::headers(&path);
        Ok(Self { library, path, version: (major, minor), headers })
    }

    /// Compiles `text`, shown as `name` in messages, keeping the name expressions.
    pub(super) fn compile(
        &self,
        text: &str,
        name: &str,
        options: &[String],
        expressions: &[String],
    ) -> Result<Compiled, CompileFailure> {
        let broken = |what: &str| CompileFailure::Broken(format!("{}: {what}", self.path.display()));
        let c = |text: &str| CString::new(text).map_err(|_| broken("a name or option holds a zero byte"));
        let program = self.create(&c(text)?, &c(name)?).map_err(|why| broken(&why))?;
        let expressions = expressions.iter().map(|one| c(one)).collect::<Result<Vec<_>, _>>()?;
        let options = options.iter().map(|one| c(one)).collect::<Result<Vec<_>, _>>()?;
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        // SAFETY: documented types; the program is live, the strings outlive the calls, sizes are NVRTC's own.
        unsafe {
            let add =
                program.get::<unsafe extern "C" fn(Program, *const c_char) -> c_int>(b"nvrtcAddNameExpression\0")?;
            for expression in &expressions {
                if add(program.handle, expression.as_ptr()) != 0 {
                    return Err(broken("nvrtcAddNameExpression failed"));
                }
            }
            let compile = program
                .get::<unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int>(b"nvrtcCompileProgram\0")?;
            if compile(program.handle, pointers.len() as c_int, pointers.as_ptr()) != 0 {
                let log = program.bytes(b"nvrtcGetProgramLogSize\0", b"nvrtcGetProgramLog\0")?;
                let log = String::from_utf8_lossy(&log).trim_end_matches('\0').to_owned();
                return Err(CompileFailure::Log(log));
            }
            let lowered = program.get::<unsafe extern "C" fn(Program, *const c_char, *mut *const c_char) -> c_int>(
                b"nvrtcGetLoweredName\0",
            )?;
            let mut symbols = Vec::with_capacity(expressions.len());
            for expression in &expressions {
                let mut symbol: *const c_char = std::ptr::null();
                if lowered(program.handle, expression.as_ptr(), &raw mut symbol) != 0 || symbol.is_null() {
                    return Err(broken("nvrtcGetLoweredName failed"));
                }
                symbols.push(CStr::from_ptr(symbol).to_string_lossy().into_owned());
            }
            let cubin = program.bytes(b"nvrtcGetCUBINSize\0", b"nvrtcGetCUBIN\0")?;
            if cubin.is_empty() {
                return Err(broken("no machine code was made for this architecture"));
            }
            Ok(Compiled { cubin, symbols })
        }
    }

    fn create(&self, text: &CString, name: &CString) -> Result<OpenProgram<'_>, String> {
        type Create = unsafe extern "C" fn(
            *mut Program,
            *const c_char,
            *const c_char,
            c_int,
            *const *const c_char,
            *const *const c_char,
        ) -> c_int;
        let mut handle: Program = std::ptr::null_mut();
        // SAFETY: the documented type; NVRTC copies both strings; no headers are given.
        let status = unsafe {
            let create = self.library.get::<Create>(b"nvrtcCreateProgram\0").map_err(|error| error.to_string())?;
            create(&raw mut handle, text.as_ptr(), name.as_ptr(), 0, std::ptr::null(), std::ptr::null())
        };
        if status != 0 {
            return Err(format!("nvrtcCreateProgram failed with {status}"));
        }
        Ok(OpenProgram { nvrtc: self, handle })
    }
}

/// A program that is destroyed when dropped.
struct OpenProgram<'a> {
    nvrtc: &'a Nvrtc,
    handle: Program,
}

impl OpenProgram<'_> {
    /// # Safety
    /// `F` is the documented type of the function.
    unsafe fn get<F>(&self, name: &[u8]) -> Result<libloading::Symbol<'_, F>, CompileFailure> {
        // SAFETY: passed on to the caller.
        unsafe { self.nvrtc.library.get::<F>(name) }.map_err(|error| CompileFailure::Broken(error.to_string()))
    }

    /// # Safety
    /// `size` and `get` name a pair of NVRTC functions that tell a size and fill a buffer of that size.
    unsafe fn bytes(&self, size: &[u8], get: &[u8]) -> Result<Vec<u8>, CompileFailure> {
        let mut len = 0usize;
        // SAFETY: the documented types; the buffer has the size that NVRTC asked for.
        unsafe {
            let size = self.get::<unsafe extern "C" fn(Program, *mut usize) -> c_int>(size)?;
            size(self.handle, &raw mut len);
            let mut bytes = vec![0u8; len];
            let get = self.get::<unsafe extern "C" fn(Program, *mut c_char) -> c_int>(get)?;
            get(self.handle, bytes.as_mut_ptr().cast());
            Ok(bytes)
        }
    }
}

impl Drop for OpenProgram<'_> {
    fn drop(&mut self) {
        // SAFETY: the documented type; the handle is live.
        unsafe {
            if let Ok(destroy) =
                self.nvrtc.library.get::<unsafe extern "C" fn(*mut Program) -> c_int>(b"nvrtcDestroyProgram\0")
            {
                destroy(&raw mut self.handle);
            }
        }
    }
}
