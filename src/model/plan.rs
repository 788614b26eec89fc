//! The plan: what a candidate does, as data. Recorded by the planner, checked, logged, replayed by a launcher.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::DType;

/// Buffers and the nodes of one forward and (if gradients are asked for) one backward pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Compiler and version that made the modules.
    pub compiler: String,
    pub modules: Vec<Module>,
    pub buffers: Vec<Buffer>,
    pub forward: Vec<Node>,
    pub backward: Vec<Node>,
}

/// One compiled `.cu` file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Module {
    /// Path of the `.cu` file.
    pub source: PathBuf,
    /// Files that the source includes, other than the device's own headers; absolute.
    pub headers: Vec<PathBuf>,
    pub options: Vec<String>,
    /// Cache key: hash of content, included headers, options, kernels, compiler and device kind.
    pub key: String,
    /// The compiled object in the cache.
    pub artifact: PathBuf,
    pub kernels: Vec<KernelInfo>,
}

/// A kernel instance and its parameter list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelInfo {
    /// CUDA name expression, e.g. `rms_norm_fwd<__nv_bfloat16>`.
    pub name: String,
    /// Its name in the artifact, where that is not `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    pub params: Vec<ParamInfo>,
}

impl KernelInfo {
    pub fn new(name: &str, params: Vec<ParamInfo>) -> Self {
        Self { name: name.to_owned(), symbol: None, params }
    }
}

/// One kernel parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParamInfo {
    /// Bytes.
    pub size: u32,
    pub kind: ParamKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParamKind {
    /// A pointer; `element` is the pointee where it is one of ours (a vector type or void gives None).
    Pointer {
        element: Option<DType>,
        is_const: bool,
    },
    /// Any integer or enum type of `size` bytes; `signed` as in C++.
    Int {
        signed: bool,
    },
    Float,
    Bool,
    /// A struct passed by value.
    Struct,
}

/// A contiguous device buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buffer {
    /// For messages: the parameter's name, `out0`, `grad x`, or `scratch 2 (kernels/f.lua:12)`.
    pub name: String,
    pub role: Role,
    pub dtype: DType,
    pub shape: Vec<u64>,
}

impl Buffer {
    pub fn bytes(&self) -> u64 {
        self.shape.iter().product::<u64>() * self.dtype.size() as u64
    }
}

/// What a buffer is for. Everything but scratch lives in memory that the judge allocated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Input {
        param: String,
    },
    /// Gradient of the loss by output `index`, an input of backward.
    Cotangent {
        index: u32,
    },
    Output {
        index: u32,
    },
    Grad {
        param: String,
    },
    Scratch,
}

/// A place inside a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BufferRef {
    /// Index into [`Plan::buffers`].
    pub buffer: u32,
    pub byte_offset: u64,
}

/// A scalar of exact width, as a kernel or a fill takes it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScalarValue {
    I8(i8),
    I16(i16),
    I32(i32),
    I64(i64),
    U8(u8),
    U16(u16),
    U32(u32),
    U64(u64),
    /// Bit patterns, so that NaN and infinities survive JSON.
    F16Bits(u16),
    BF16Bits(u16),
    F32Bits(u32),
    F64Bits(u64),
    Bool(bool),
}

/// One kernel argument.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arg {
    Buffer(BufferRef),
    Null,
    Scalar(ScalarValue),
}

/// One step. `at` is the candidate's `file:line`, for messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "node", rename_all = "snake_case", deny_unknown_fields)]
pub enum Node {
    Launch {
        /// Index into [`Plan::modules`].
        module: u32,
        /// Index into that module's kernels.
        kernel: u32,
        grid: [u32; 3],
        block: [u32; 3],
        /// Dynamic shared memory, bytes.
        shared_bytes: u32,
        args: Vec<Arg>,
        at: String,
    },
    /// Every element of `buffer` becomes `value` (of the buffer's dtype).
    Fill {
        buffer: u32,
        value: ScalarValue,
        at: String,
    },
    Copy {
        src: BufferRef,
        dst: BufferRef,
        bytes: u64,
        at: String,
    },
    /// `out[b] = op(a[b]) @ op(b[b])` for row-major matrices: `a` is m×k (k×m if `trans_a`), `b` is k×n
    /// (n×k if `trans_b`), `out` is m×n, all of dtype `dtype`, accumulated in f32 (f64 for float64).
    Matmul {
        a: BufferRef,
        b: BufferRef,
        out: BufferRef,
        dtype: DType,
        m: u64,
        n: u64,
        k: u64,
        batch: u64,
        trans_a: bool,
        trans_b: bool,
        at: String,
    },
}
