//! A loaded artifact.

use std::ffi::CStr;
use std::path::Path;
use std::sync::Mutex;

use libloading::os::unix::Library;

use super::simt::abi;
use super::{context, fault};
use crate::device::{DeviceError, DeviceErrorKind};
use crate::model::Module;

/// A shared object in this process and its kernels.
pub(super) struct Loaded {
    /// Open for as long as `module` is used.
    _library: Library,
    pub(super) module: *const abi::Module,
    pub(super) description: Module,
}

impl Loaded {
    /// Opens the artifact and gives it the runtime's functions. The error names the artifact.
    pub(super) fn open(description: &Module) -> Result<Self, DeviceError> {
        let path = &description.artifact;
        let environment = |message: String| DeviceError { kind: DeviceErrorKind::Environment, message };
        let corrupt =
            |why: &str| environment(format!("compiled kernel {} {why}; delete it and try again", path.display()));
        check_file(path).map_err(|why| corrupt(&why))?;
        load_context(path.parent().unwrap_or(Path::new("."))).map_err(environment)?;
        // SAFETY: the object was made by our compiler run; its initialisers are empty.
        let library = unsafe { Library::open(Some(path), libc::RTLD_NOW | libc::RTLD_LOCAL) }
            .map_err(|error| corrupt(&format!("cannot be loaded ({error})")))?;
        // SAFETY: the symbol is a `simt_module` in every object of ours.
        let module = unsafe { library.get::<*const abi::Module>(c"popcorn_module".to_bytes_with_nul()) }
            .map(|symbol| symbol.as_raw_ptr().cast_const().cast::<abi::Module>())
            .map_err(|_| corrupt("is not a kernel object"))?;
        // SAFETY: the object's own constants, checked against the manifest before use.
        unsafe {
            if (*module).abi != abi::ABI || (*module).entries_len as usize != description.kernels.len() {
                return Err(corrupt("was made by another version"));
            }
            for (index, kernel) in description.kernels.iter().enumerate() {
                let entry = &*(*module).entries.add(index);
                let name = CStr::from_ptr(entry.name).to_bytes();
                if name != kernel.name.as_bytes() || entry.params_len as usize != kernel.params.len() {
                    return Err(corrupt(&format!("does not hold kernel '{}' as planned", kernel.name)));
                }
            }
            (*module).runtime.write(abi::Runtime::table());
        }
        fault::register_object(path, module as usize);
        Ok(Self { _library: library, module, description: description.clone() })
    }

    /// The entry of a kernel by index.
    pub(super) fn entry(&self, kernel: u32) -> Option<*const abi::Entry> {
        // SAFETY: the table has `entries_len` entries, equal to the number of kernels.
        ((kernel as usize) < self.description.kernels.len())
            .then(|| unsafe { (*self.module).entries.add(kernel as usize) })
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        fault::unregister_object(&self.description.artifact);
    }
}

/// Opens the library of the thread context, once per process; kernel objects then find it by its name.
fn load_context(folder: &Path) -> Result<(), String> {
    static OPEN: Mutex<Option<Library>> = Mutex::new(None);
    let mut open = OPEN.lock().map_err(|_| "the loader is in an unknown state".to_owned())?;
    if open.is_none() {
        let path = context::path(folder);
        check_file(&path).map_err(|why| format!("{} {why}; delete it and try again", path.display()))?;
        // SAFETY: a library without code.
        let library = unsafe { Library::open(Some(&path), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
        *open = Some(library.map_err(|error| format!("{} cannot be loaded ({error})", path.display()))?);
    }
    Ok(())
}

/// The loader crashes on some truncated objects, so the file's shape is checked before.
fn check_file(path: &Path) -> Result<(), String> {
    let bytes = std::fs::read(path).map_err(|error| format!("cannot be read ({error})"))?;
    let file = object::File::parse(&*bytes).map_err(|error| format!("is damaged ({error})"))?;
    use object::{Object, ObjectSegment};
    let whole = file.segments().all(|segment| {
        let (start, len) = segment.file_range();
        start.checked_add(len).is_some_and(|end| end <= bytes.len() as u64)
    });
    if whole { Ok(()) } else { Err("is cut short".to_owned()) }
}
