---@meta

---What a candidate (`kernels/<op>_cu.lua`) sees. A candidate runs once per case on tensors that have a shape and no
---data; what it asks for is recorded as a plan and replayed. Plain Lua is there (math, string, table, utf8); files,
---other modules, chance and the clock are not.
---@class gpu
gpu = {}

---Element types, under PyTorch's names.
---@alias dtype "float64"|"float32"|"float16"|"bfloat16"|"int64"|"int32"|"int8"|"bool"

---A contiguous, row-major tensor. It cannot be changed.
---@class gpu.Tensor
---@field shape integer[] a copy of the extents
---@field dtype dtype
---@field numel integer number of elements
---@field ndim integer number of dimensions
---@field name string for messages
local Tensor = {}

---The same elements in another shape; one extent may be -1.
---@param ... integer|integer[]
---@return gpu.Tensor
function Tensor:view(...) end

---The same elements in one dimension.
---@return gpu.Tensor
function Tensor:flatten() end

---Rows `start .. start + length` of dimension 0 (0-based; other dimensions would not be contiguous).
---@param dim 0
---@param start integer
---@param length integer
---@return gpu.Tensor
function Tensor:narrow(dim, start, length) end

---A `.cu` file with a set of compiler options.
---@class gpu.Module
local Module = {}

---A kernel by name; further arguments are its template arguments (a dtype becomes the CUDA type).
---`mod:kernel("rms_norm_fwd", x.dtype, 8)` is `rms_norm_fwd<__nv_bfloat16, 8>`.
---@param name string
---@param ... dtype|integer|boolean
---@return gpu.Kernel
function Module:kernel(name, ...) end

---@class gpu.Launch
---@field grid integer|integer[] blocks: a number or up to three
---@field block integer|integer[] threads of a block: a number or up to three
---@field shared? integer bytes of dynamic shared memory
---@field [integer] gpu.Tensor|gpu.Null|gpu.Scalar|number|boolean the kernel's arguments in order

---Call it to launch it: `kernel{ grid = rows, block = 256, x, y, n, eps }`. Integers go to integer parameters, floats to
---floating ones; an absent tensor is `gpu.null`.
---@class gpu.Kernel
---@overload fun(launch: gpu.Launch)

---A scalar of a given width.
---@class gpu.Scalar

---The null pointer.
---@class gpu.Null

---The device, as far as a plan may depend on it.
---@class gpu.Device
---@field kind "cpu"|"cuda"
---@field processors integer
---@field shared_memory_per_block integer most bytes of shared memory that a block can have
---@field warp_size integer

---@type gpu.Device
gpu.device = nil

---@type gpu.Null
gpu.null = nil

---Declares a `.cu` file of the candidate's folder. It is compiled when one of its kernels is launched.
---@param file string
---@param options? { options?: string[] } `-DNAME=VALUE`, `-I DIR`, `--use_fast_math`
---@return gpu.Module
function gpu.compile(file, options) end

---A tensor with undefined content.
---@param shape integer|integer[]
---@param dtype dtype
---@return gpu.Tensor
function gpu.empty(shape, dtype) end

---A tensor of the same shape and dtype, with undefined content.
---@param tensor gpu.Tensor
---@return gpu.Tensor
function gpu.empty_like(tensor) end

---A tensor of zeros (false for bool).
---@param shape integer|integer[]
---@param dtype dtype
---@return gpu.Tensor
function gpu.zeros(shape, dtype) end

---A tensor of one value.
---@param shape integer|integer[]
---@param value number|boolean
---@param dtype dtype
---@return gpu.Tensor
function gpu.full(shape, value, dtype) end

---Sets every element of a whole tensor.
---@param tensor gpu.Tensor
---@param value number|boolean
function gpu.fill(tensor, value) end

---Copies all elements; dtype and number of elements are the same.
---@param dst gpu.Tensor
---@param src gpu.Tensor
function gpu.copy(dst, src) end

---The matrix product of the last two dimensions, by the device's library (cublas, or the host's). Leading dimensions
---are equal, or `b` is one matrix for all of `a`.
---@param a gpu.Tensor
---@param b gpu.Tensor
---@param options? { trans_a?: boolean, trans_b?: boolean, out?: gpu.Tensor }
---@return gpu.Tensor
function gpu.matmul(a, b, options) end

---`a / b` rounded up, for a >= 0 and b >= 1.
---@param a integer
---@param b integer
---@return integer
function gpu.cdiv(a, b) end

---@param value number
---@return gpu.Scalar
function gpu.f32(value) end

---@param value number
---@return gpu.Scalar
function gpu.f64(value) end

---@param value integer
---@return gpu.Scalar
function gpu.i32(value) end

---@param value integer
---@return gpu.Scalar
function gpu.i64(value) end

---@param value integer
---@return gpu.Scalar
function gpu.u32(value) end
