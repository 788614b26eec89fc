---@meta

---The third argument of an op's `inputs` functions: more random tensors for the same parameter. Each call has a stream
---of its own, the same for the same case and seed on every machine.
---@class Rng
local Rng = {}

---Standard normal values, float32.
---@param shape integer[]
---@return Tensor
function Rng:normal(shape) end

---Uniform values in [0, 1), float32.
---@param shape integer[]
---@return Tensor
function Rng:uniform(shape) end

---True with probability `p`.
---@param p number
---@param shape integer[]
---@return Tensor
function Rng:bernoulli(p, shape) end

---Integers from `low` to below `high`, int64.
---@param low integer
---@param high integer
---@param shape integer[]
---@return Tensor
function Rng:randint(low, high, shape) end
