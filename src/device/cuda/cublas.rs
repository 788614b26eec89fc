//! cuBLAS, opened by path; types and values as in <https://docs.nvidia.com/cuda/cublas/>.

use std::ffi::{c_int, c_longlong, c_void};
use std::path::PathBuf;

use cudarc::driver::sys::{CUdeviceptr, CUstream};
use libloading::Library;

use super::memory::allocate;
use super::toolkit;
use crate::device::{DeviceError, DeviceErrorKind};
use crate::model::DType;

/// Bytes that cuBLAS recommends for Hopper; given once, so that nothing is allocated while a graph is captured.
const WORKSPACE: u64 = 32 << 20;

type Handle = *mut c_void;
type Gemm = unsafe extern "C" fn(
    Handle,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    *const c_void,
    *const c_void,
    c_int,
    c_int,
    c_longlong,
    *const c_void,
    c_int,
    c_int,
    c_longlong,
    *const c_void,
    *mut c_void,
    c_int,
    c_int,
    c_longlong,
    c_int,
    c_int,
    c_int,
) -> c_int;

/// A handle bound to one stream.
pub(super) struct Cublas {
    handle: Handle,
    gemm: Gemm,
    _library: Library,
}

/// A batched product with resolved addresses; see [`crate::model::Node::Matmul`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Product {
    pub(super) a: CUdeviceptr,
    pub(super) b: CUdeviceptr,
    pub(super) out: CUdeviceptr,
    pub(super) dtype: DType,
    pub(super) m: u64,
    pub(super) n: u64,
    pub(super) k: u64,
    pub(super) batch: u64,
    pub(super) trans_a: bool,
    pub(super) trans_b: bool,
}

fn environment(message: String) -> DeviceError {
    DeviceError { kind: DeviceErrorKind::Environment, message }
}

impl Cublas {
    /// Finds cuBLAS; a context is current.
    pub(super) fn open(stream: CUstream) -> Result<Self, DeviceError> {
        let named = ["libcublas.so", "libcublas.so.13", "libcublas.so.12"].map(PathBuf::from);
        let mut found = named.into_iter().chain(toolkit::libraries("cublas"));
        // SAFETY: cuBLAS's initialisers have no requirements.
        let library = found.find_map(|path| unsafe { Library::new(path) }.ok()).ok_or_else(|| {
            environment(
                "matmul needs cuBLAS (libcublas.so), which was not found; install a CUDA toolkit, or \
                 `pip install nvidia-cublas-cu12` in the active Python environment"
                    .to_owned(),
            )
        })?;
        let missing = |error: libloading::Error| environment(format!("cuBLAS: {error}"));
        let ok = |status: c_int, what: &str| match status {
            0 => Ok(()),
            _ => Err(environment(format!("cuBLAS: {what} failed with status {status}"))),
        };
        let workspace = allocate(WORKSPACE).map_err(|error| super::error::device_error("cuBLAS's workspace", error))?;
        let mut handle: Handle = std::ptr::null_mut();
        // SAFETY: the documented types; the handle is created before it is used.
        unsafe {
            let create =
                library.get::<unsafe extern "C" fn(*mut Handle) -> c_int>(b"cublasCreate_v2\0").map_err(missing)?;
            ok(create(&raw mut handle), "cublasCreate")?;
            let set = library.get::<unsafe extern "C" fn(Handle, CUstream) -> c_int>(b"cublasSetStream_v2\0");
            ok(set.map_err(missing)?(handle, stream), "cublasSetStream")?;
            let give =
                library.get::<unsafe extern "C" fn(Handle, *mut c_void, usize) -> c_int>(b"cublasSetWorkspace_v2\0");
            ok(give.map_err(missing)?(handle, workspace as *mut c_void, WORKSPACE as usize), "cublasSetWorkspace")?;
            let gemm = *library.get::<Gemm>(b"cublasGemmStridedBatchedEx\0").map_err(missing)?;
            Ok(Self { handle, gemm, _library: library })
        }
    }

    /// Puts one product on the stream. Row-major `out = op(a) op(b)` is column-major `out' = op(b)' op(a)'`.
    pub(super) fn enqueue(&self, p: &Product) -> Result<(), DeviceError> {
        if [p.m, p.n, p.batch].contains(&0) {
            return Ok(());
        }
        // cudaDataType and cublasComputeType_t.
        let (kind, compute) = match p.dtype {
            DType::F64 => (1, 70),
            DType::F32 => (0, 68),
            DType::F16 => (2, 68),
            DType::BF16 => (14, 68),
            other => return Err(environment(format!("matmul: dtype {other} is not a float type"))),
        };
        let extent = |extent: u64| {
            c_int::try_from(extent).map_err(|_| environment(format!("matmul: extent {extent} is over cuBLAS's limit")))
        };
        let (m, n, k, batch) = (extent(p.m)?, extent(p.n)?, extent(p.k)?, extent(p.batch)?);
        let stride = |rows: u64, columns: u64| (rows * columns) as c_longlong;
        let (one32, zero32, one64, zero64) = (1f32, 0f32, 1f64, 0f64);
        let (one, zero): (*const c_void, *const c_void) = if p.dtype == DType::F64 {
            ((&raw const one64).cast(), (&raw const zero64).cast())
        } else {
            ((&raw const one32).cast(), (&raw const zero32).cast())
        };
        let (ld_a, ld_b) = (if p.trans_a { m } else { k }.max(1), if p.trans_b { k } else { n }.max(1));
        // SAFETY: the documented type; ranges were checked when the node was recorded; scalars live on this stack and
        // are read before the call returns (pointer mode host).
        let status = unsafe {
            (self.gemm)(
                self.handle,
                c_int::from(p.trans_b),
                c_int::from(p.trans_a),
                n,
                m,
                k,
                one,
                p.b as *const c_void,
                kind,
                ld_b,
                stride(p.k, p.n),
                p.a as *const c_void,
                kind,
                ld_a,
                stride(p.m, p.k),
                zero,
                p.out as *mut c_void,
                kind,
                n,
                stride(p.m, p.n),
                batch,
                compute,
                -1,
            )
        };
        if status == 0 { Ok(()) } else { Err(environment(format!("cuBLAS: the product failed with status {status}"))) }
    }
}
