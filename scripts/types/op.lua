---@meta

---@class popcorn.op
popcorn.op = {}

---Reads `ops/<name>.lua` and checks it. An unknown name raises a usage error with the nearest names.
---@param name string
---@return Op
function popcorn.op.load(name) end

---Names of all ops, sorted.
---@return string[]
function popcorn.op.names() end

---@class OpParam
---@field name string
---@field kind "tensor"|"scalar"
---@field type string? Of a tensor: `float[..., hidden]`.
---@field optional boolean? Of a tensor.
---@field range string[]? Of an integer tensor: lowest value, and the first value above the highest.
---@field default any Of a scalar; None is `popcorn.null`.
---@field values any[]? Of a scalar: the values that samples use, default first.
---@field texts string[]? Of a scalar: `values` as case texts spell them.

---@class Op
---@field name string
---@field file string `ops/<name>.lua`.
---@field summary string
---@field about string[] Lines of the comment that the file starts with: papers, conventions.
---@field tags string[]
---@field params OpParam[] In signature order.
---@field scalars OpParam[] The scalars among `params`.
---@field optional string[] Names of the optional tensors.
---@field returns string[] Output types; empty if they depend on the case.
---@field no_grad string[] Float inputs without a gradient.
---@field dims string[] Names of its dims, sorted.
---@field has_batch boolean Whether cases have leading extents (`...`).
---@field impls table<string, string> Implementation name to module in `kernels/`.
---@field tolerance table<string, number> Bounds that replace the default table's, by dtype.
local Op = {}

---@class CaseSpec
---@field dims table<string, integer>?
---@field batch integer[]?
---@field dtype tensor.DType
---@field args table<string, any>? Left-out arguments have their defaults.
---@field present string[]?

---A checked case; raises a usage error if it is none of this op.
---@param spec string|CaseSpec
---@return Case
function Op:case(spec) end

---As `case`, but an impossible case gives nil and the reason.
---@param spec string|CaseSpec
---@return Case|nil
---@return string|nil reason
function Op:try_case(spec) end

---Arguments, outputs and the names of the inputs that need a gradient.
---@param case Case
---@return table
function Op:signature(case) end

---Elements of all inputs and outputs: of the largest, and in total.
---@param case Case
---@return { largest: integer, total: integer }
function Op:size(case) end

---Least traffic in bytes.
---@param case Case
---@return number forward
---@return number backward
function Op:bytes(case) end

---Least arithmetic in floating-point operations.
---@param case Case
---@return number forward
---@return number backward
function Op:flops(case) end

---The inputs of a case for a seed, rounded to their dtypes.
---@param case Case
---@param seed integer
---@return table<string, Tensor>
function Op:draw(case, seed) end

---Standard normal cotangents, one per output; false for an output that is no float.
---@param case Case
---@param seed integer
---@return (Tensor|false)[]
function Op:cotangents(case, seed) end

---Runs the reference, at float64 unless `options.dtype` says otherwise. Without cotangents there are no gradients; a
---gradient that is missing means that the outputs do not depend on that input.
---@param case Case
---@param inputs table<string, Tensor>
---@param cotangents? (Tensor|false)[]
---@param options? { dtype?: tensor.DType }
---@return { outputs: Tensor[], grads: table<string, Tensor> }
function Op:evaluate(case, inputs, cotangents, options) end

---The case as the functions of an op file see it. Reading a name that it does not have raises.
---@class CaseView
---@field dims table<string, integer>
---@field batch integer[]
---@field dtype tensor.DType
---@field itemsize integer Bytes of one element of `dtype`.
---@field args table<string, any> Scalar arguments; None is nil.
---@field present table<string, boolean> Whether a tensor parameter is passed.
---@field shape table<string, integer[]> Of each tensor that is passed.
---@field numel table<string, integer> Elements of each tensor, 0 for one that is not passed.
---@field bytes table<string, integer> Bytes of each tensor, 0 for one that is not passed.

---What `ops/<name>.lua` returns. Unknown keys are errors.
---@class OpFile
---@field summary string
---@field tags? string[] `surrogate gradient`: the reference's gradients are not those of its values, by `detach`.
---@field params table[] `{ name, type, optional = true?, range = { low, high }? }` or `{ name, default, values = { … }? }`.
---@field returns string[]|fun(case: CaseView): string[]
---@field reference fun(...): ... The ground truth, on tensors: differentiable, PyTorch names and 0-based dims.
---@field inputs? table<string, fun(draw: Tensor, case: CaseView, rng: Rng): Tensor> Transforms of the raw draw.
---@field no_grad? string[]
---@field tolerance? table<string, number>
---@field domain? fun(case: CaseView): boolean, string?
---@field bytes fun(case: CaseView): number, number Forward, backward.
---@field flops fun(case: CaseView): number, number Forward, backward.
---@field impls? table<string, string>
