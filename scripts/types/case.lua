---@meta

---@class popcorn.case
popcorn.case = {}

---Name of a list of cases: 12 hex digits over their ids, in order.
---@param cases Case[]
---@return string
function popcorn.case.sample_id(cases) end

---A checked case of an op. Read-only; `tostring(case)` is its text form.
---@class Case
---@field id string 12 hex digits over the case's canonical JSON.
---@field text string `normalized_shape=4096,batch=(64,),bfloat16,eps=1e-05,+bias`.
---@field dims table<string, integer> Extents by name.
---@field batch integer[] Leading extents, what `...` stands for.
---@field dtype tensor.DType
---@field args table<string, any> Scalar arguments; None is nil.
---@field present string[] Optional tensors that are passed, sorted.
