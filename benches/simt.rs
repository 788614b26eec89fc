//! The cpu device against plain single-core C++ loops from the same compiler: one table of ratios.
//!
//! `cargo bench --bench simt`. Times are the best of several runs; the barrier row is nanoseconds per thread and barrier.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use libloading::Library;
use popcorn::device::cpu::{CpuCompiler, CpuDevice, find_compiler};
use popcorn::device::{Access, BoundArg, BoundNode, BufferId, CompileJob, Compiler, Device, Shared, Step};
use popcorn::model::ScalarValue;

type Reference = unsafe extern "C" fn(*const *mut f32, *const i64);

const REPS: usize = 7;

struct Row {
    name: &'static str,
    file: &'static str,
    kernel: &'static str,
    /// Elements of each buffer, in parameter order; the reference gets the same list.
    buffers: &'static [usize],
    scalars: &'static [ScalarValue],
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    reference: &'static str,
    extents: [i64; 3],
}

const EPS: ScalarValue = ScalarValue::F32Bits(0x3727_c5ac);
const TWO: ScalarValue = ScalarValue::F32Bits(0x4000_0000);
const N: usize = 1024 * 4096;

const ROWS: [Row; 9] = [
    Row {
        name: "rms_norm 1024x4096",
        file: "rms_norm.cu",
        kernel: "rms_norm",
        buffers: &[N, 4096, N],
        scalars: &[ScalarValue::I32(4096), EPS],
        grid: [1024, 1, 1],
        block: [256, 1, 1],
        shared_bytes: 0,
        reference: "rms_norm",
        extents: [1024, 4096, 0],
    },
    Row {
        name: "rms_norm float4",
        file: "rms_norm.cu",
        kernel: "rms_norm_v4",
        buffers: &[N, 4096, N],
        scalars: &[ScalarValue::I32(4096), EPS],
        grid: [1024, 1, 1],
        block: [256, 1, 1],
        shared_bytes: 0,
        reference: "rms_norm",
        extents: [1024, 4096, 0],
    },
    Row {
        name: "softmax 1024x4096",
        file: "softmax.cu",
        kernel: "softmax",
        buffers: &[N, N],
        scalars: &[ScalarValue::I32(4096)],
        grid: [1024, 1, 1],
        block: [256, 1, 1],
        shared_bytes: 36,
        reference: "softmax",
        extents: [1024, 4096, 0],
    },
    Row {
        name: "transpose 1024x4096",
        file: "transpose.cu",
        kernel: "transpose",
        buffers: &[N, N],
        scalars: &[ScalarValue::I32(1024), ScalarValue::I32(4096)],
        grid: [128, 32, 1],
        block: [32, 8, 1],
        shared_bytes: 0,
        reference: "transpose",
        extents: [1024, 4096, 0],
    },
    Row {
        name: "matmul 512^3, 16x16 tile",
        file: "matmul.cu",
        kernel: "matmul",
        buffers: &[512 * 512, 512 * 512, 512 * 512],
        scalars: &[ScalarValue::I32(512), ScalarValue::I32(512), ScalarValue::I32(512)],
        grid: [32, 32, 1],
        block: [16, 16, 1],
        shared_bytes: 0,
        reference: "matmul",
        extents: [512, 512, 512],
    },
    Row {
        name: "matmul 512^3, 64x64 tile",
        file: "matmul.cu",
        kernel: "matmul_reg",
        buffers: &[512 * 512, 512 * 512, 512 * 512],
        scalars: &[ScalarValue::I32(512), ScalarValue::I32(512), ScalarValue::I32(512)],
        grid: [8, 8, 1],
        block: [256, 1, 1],
        shared_bytes: 0,
        reference: "matmul",
        extents: [512, 512, 512],
    },
    Row {
        name: "saxpy 4 M",
        file: "saxpy.cu",
        kernel: "saxpy",
        buffers: &[N, N],
        scalars: &[TWO, ScalarValue::I32(N as i32)],
        grid: [(N / 256) as u32, 1, 1],
        block: [256, 1, 1],
        shared_bytes: 0,
        reference: "saxpy",
        extents: [N as i64, 0, 0],
    },
    Row {
        name: "swiglu bf16 4 M",
        file: "swiglu.cu",
        kernel: "swiglu_bf16",
        buffers: &[N / 2, N / 2, N / 2],
        scalars: &[ScalarValue::I32(N as i32)],
        grid: [(N / 8 / 256) as u32, 1, 1],
        block: [256, 1, 1],
        shared_bytes: 0,
        reference: "swiglu_bf16",
        extents: [N as i64, 0, 0],
    },
    Row {
        name: "empty kernel, 1 block",
        file: "saxpy.cu",
        kernel: "saxpy",
        buffers: &[1, 1],
        scalars: &[TWO, ScalarValue::I32(0)],
        grid: [1, 1, 1],
        block: [32, 1, 1],
        shared_bytes: 0,
        reference: "saxpy",
        extents: [0, 0, 0],
    },
];

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cache = tempfile::tempdir()?;
    let compiler = CpuCompiler::new(cache.path())?;
    let library = reference_library(root, cache.path())?;
    println!("{}, {}", compiler.describe(), CpuDevice::new(String::new()).describe().name);
    println!("milliseconds: wall clock, processor time of all cores, compilation and a hit of its cache");
    println!(
        "{:<26} {:>9} {:>9} {:>8} {:>9} {:>9} {:>8} {:>8} {:>6}",
        "kernel", "device", "C++ loop", "ratio", "device", "C++ loop", "ratio", "compile", "hit"
    );
    for row in &ROWS {
        let job = CompileJob {
            source: root.join("tests/cuda").join(row.file),
            options: Vec::new(),
            kernels: vec![row.kernel.to_owned()],
            cache_dir: cache.path().to_owned(),
        };
        let started = Instant::now();
        let module = compiler.compile(&job)?;
        let compile = started.elapsed();
        let started = Instant::now();
        compiler.compile(&job)?;
        let hit = started.elapsed();

        let mut device = CpuDevice::new(String::new());
        let module = device.load(&module)?;
        let (ids, mapped) = buffers(&mut device, row.buffers)?;
        let args =
            ids.iter().map(|id| BoundArg::Buffer(*id, 0)).chain(row.scalars.iter().map(|s| BoundArg::Scalar(*s)));
        let node = BoundNode::Launch {
            module,
            kernel: 0,
            grid: row.grid,
            block: row.block,
            shared_bytes: row.shared_bytes,
            args: args.collect(),
        };
        let graph = device.record(&[node])?;
        let (mut ours, mut busy) = (Duration::MAX, Duration::MAX);
        for _ in 0..REPS {
            let before = processor_time();
            ours = ours.min(device.perform(&[Step::Timed(vec![graph])])?[0]);
            busy = busy.min(processor_time() - before);
        }
        let name = format!("ref_{}\0", row.reference);
        // SAFETY: the library below defines every function of the table with this type.
        let reference = unsafe { library.get::<Reference>(name.as_bytes())? };
        let (mut theirs, mut their_busy) = (Duration::MAX, Duration::MAX);
        for _ in 0..REPS {
            let (started, before) = (Instant::now(), processor_time());
            // SAFETY: the buffers have the extents that the table gives.
            unsafe { reference(mapped.as_ptr(), row.extents.as_ptr()) };
            theirs = theirs.min(started.elapsed());
            their_busy = their_busy.min(processor_time() - before);
        }
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        println!(
            "{:<26} {:>9.3} {:>9.3} {:>7.2}x {:>9.3} {:>9.3} {:>7.2}x {:>8.1} {:>6.2}",
            row.name,
            ms(ours),
            ms(theirs),
            ms(ours) / ms(theirs),
            ms(busy),
            ms(their_busy),
            ms(busy) / ms(their_busy),
            ms(compile),
            ms(hit)
        );
    }
    primitives(&compiler, cache.path())
}

/// Processor time of this process, which other work on the machine does not stretch.
fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a valid clock and place.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Nanoseconds of processor time per thread of one barrier and one shuffle, on one worker per block.
fn primitives(compiler: &CpuCompiler, cache: &Path) -> Result<(), Box<dyn Error>> {
    let source = cache.join("primitives.cu");
    std::fs::write(
        &source,
        "extern \"C\" __global__ void barriers(int n) { for (int i = 0; i < n; ++i) __syncthreads(); }\n\
         extern \"C\" __global__ void shuffles(int* out, int n) { int v = threadIdx.x; for (int i = 0; i < n; ++i) \
         v += __shfl_xor_sync(0xffffffff, v, 1); if (v == -1) *out = v; }\n",
    )?;
    let kernels = ["barriers", "shuffles"].map(str::to_owned).to_vec();
    let module = compiler.compile(&CompileJob { source, options: Vec::new(), kernels, cache_dir: cache.to_owned() })?;
    let started = Instant::now();
    let mut device = CpuDevice::new(String::new());
    let module = device.load(&module)?;
    let loaded = started.elapsed();
    let out = device.alloc("out", 4)?;
    let rounds = 200u32;
    for (kernel, name) in [(0, "__syncthreads"), (1, "__shfl_xor_sync")] {
        for block in [32u32, 256, 1024] {
            let mut args = vec![BoundArg::Scalar(ScalarValue::I32(rounds as i32))];
            if kernel == 1 {
                args.insert(0, BoundArg::Buffer(out, 0));
            }
            let node = BoundNode::Launch { module, kernel, grid: [1; 3], block: [block, 1, 1], shared_bytes: 0, args };
            let graph = device.record(&[node])?;
            let mut best = Duration::MAX;
            for _ in 0..REPS {
                let before = processor_time();
                device.rehearse(graph)?;
                best = best.min(processor_time() - before);
            }
            let each = best.as_nanos() as f64 / f64::from(rounds * block);
            println!("{name:<18} {block:>5} threads: {each:>6.1} ns per thread");
        }
    }
    println!("load {:.2} ms", loaded.as_secs_f64() * 1e3);
    Ok(())
}

/// Device buffers and their addresses in this process.
type Buffers = (Vec<BufferId>, Vec<*mut f32>);

/// Buffers with small values, and the addresses at which this process sees them too.
fn buffers(device: &mut CpuDevice, lens: &[usize]) -> Result<Buffers, Box<dyn Error>> {
    use std::os::fd::AsFd;
    let (mut ids, mut mapped) = (Vec::new(), Vec::new());
    for len in lens {
        let bytes = (len * 4).next_multiple_of(4096);
        let file = tempfile::tempfile()?;
        file.set_len(bytes as u64)?;
        // SAFETY: the file is ours and keeps its length.
        let mut map = unsafe { memmap2::MmapMut::map_mut(&file)? };
        let start = bytes - len * 4;
        for (i, value) in map[start..].chunks_exact_mut(4).enumerate() {
            value.copy_from_slice(&((i * 37 % 101) as f32 * 0.01 + 0.1).to_le_bytes());
        }
        let start = start / 16 * 16;
        ids.push(device.import(
            "b",
            Shared::File(file.as_fd()),
            start as u64,
            (bytes - start) as u64,
            Access::ReadWrite,
        )?);
        mapped.push(map[start..].as_mut_ptr().cast());
        // The mapping lives as long as the process.
        std::mem::forget(map);
    }
    Ok((ids, mapped))
}

/// Compiles `benches/simt_reference.cpp` with the device's own compiler.
fn reference_library(root: &Path, cache: &Path) -> Result<Library, Box<dyn Error>> {
    let compiler = find_compiler(cache)?;
    let object: PathBuf = cache.join("reference.so");
    let status = Command::new(&compiler.path)
        .args(["-O3", "-march=native", "-fno-math-errno", "-fPIC", "-shared", "-o"])
        .arg(&object)
        .arg(root.join("benches/simt_reference.cpp"))
        .arg("-lm")
        .status()?;
    if !status.success() {
        return Err("cannot compile benches/simt_reference.cpp".into());
    }
    // SAFETY: a library without initialisers.
    Ok(unsafe { Library::new(object)? })
}
