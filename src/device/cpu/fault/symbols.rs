//! Source lines of addresses in loaded kernel objects, from their line tables.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::device::cpu::simt::short;

struct Object {
    path: PathBuf,
    /// Address that the object's virtual address zero is loaded at.
    bias: usize,
    text: std::ops::Range<usize>,
}

static OBJECTS: Mutex<Vec<Object>> = Mutex::new(Vec::new());

/// Makes an object's lines known. `inside` is any address in it.
pub(in crate::device::cpu) fn register_object(path: &Path, inside: usize) {
    struct Search {
        inside: usize,
        found: Option<(usize, std::ops::Range<usize>)>,
    }
    extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, data: *mut libc::c_void) -> libc::c_int {
        // SAFETY: the loader passes valid headers; `data` is the `Search` below.
        unsafe {
            let search = &mut *data.cast::<Search>();
            let bias = (*info).dlpi_addr as usize;
            let headers = std::slice::from_raw_parts((*info).dlpi_phdr, usize::from((*info).dlpi_phnum));
            let loads = || headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
            let range = |header: &libc::Elf64_Phdr| {
                let start = bias + header.p_vaddr as usize;
                start..start + header.p_memsz as usize
            };
            if loads().any(|header| range(header).contains(&search.inside)) {
                let text = loads().find(|header| header.p_flags & libc::PF_X != 0).map_or(0..0, range);
                search.found = Some((bias, text));
                return 1;
            }
        }
        0
    }
    let mut search = Search { inside, found: None };
    // SAFETY: the callback only touches `search`, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    if let (Some((bias, text)), Ok(mut objects)) = (search.found, OBJECTS.lock()) {
        objects.push(Object { path: path.to_owned(), bias, text });
    }
}

/// Forgets an object that is about to be unloaded.
pub(in crate::device::cpu) fn unregister_object(path: &Path) {
    if let Ok(mut objects) = OBJECTS.lock()
        && let Some(index) = objects.iter().position(|object| object.path == path)
    {
        objects.swap_remove(index);
    }
}

/// `file`, `line` of an address in a kernel object, innermost first but for the shim's own inlined functions.
pub(super) fn line_of(pc: usize) -> Option<(String, i32)> {
    let objects = OBJECTS.lock().ok()?;
    let object = objects.iter().find(|object| object.text.contains(&pc))?;
    let loader = addr2line::Loader::new(&object.path).ok()?;
    let mut frames = loader.find_frames((pc - object.bias) as u64).ok()?;
    let mut shim = None;
    while let Ok(Some(frame)) = frames.next() {
        let Some((file, line)) = frame.location.and_then(|l| Some((l.file?.to_owned(), l.line? as i32))) else {
            continue;
        };
        if !crate::device::cpu::is_shim_path(&file) {
            return Some((short(&file).to_owned(), line));
        }
        shim = shim.or(Some((short(&file).to_owned(), line)));
    }
    shim
}

/// The nearest return address on a stack that lies in a kernel object: the fault was inside a library function.
pub(super) fn line_of_caller(sp: usize, end: usize) -> Option<(String, i32)> {
    let words = end.saturating_sub(sp) / size_of::<usize>();
    (0..words.min(512)).find_map(|index| {
        // SAFETY: between the stack pointer and the upper end of a fiber's stack, whose thread waits.
        let word = unsafe { ((sp + index * size_of::<usize>()) as *const usize).read_volatile() };
        // A return address points behind the call.
        line_of(word.wrapping_sub(1))
    })
}
