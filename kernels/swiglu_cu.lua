-- swiglu for CUDA C++: elementwise, 16-byte accesses, the tail one element at a time.
local mod = gpu.compile("swiglu.cu")
local M = {}

local ITEM = { float32 = 4, float16 = 2, bfloat16 = 2 }

-- Tuning: packs per thread and threads per block.
local FORWARD, BACKWARD, BLOCK = 1, 1, 128

local function launch(name, x, unroll)
  local size = ITEM[x.dtype] or error("swiglu_cu: no kernel for " .. x.dtype .. ", only float32, float16, bfloat16", 0)
  local v = 16 // size
  return mod:kernel(name, x.dtype, v, unroll), gpu.cdiv(x.numel, v * unroll * BLOCK)
end

function M.swiglu(a, b)
  local y = gpu.empty_like(a)
  local kernel, grid = launch("swiglu_fwd", a, FORWARD)
  kernel { grid = grid, block = BLOCK, a, b, y, a.numel }
  return y, { a = a, b = b }
end

function M.swiglu_backward(saved, dy)
  local a, b = saved.a, saved.b
  local da, db = gpu.empty_like(a), gpu.empty_like(b)
  local kernel, grid = launch("swiglu_bwd", a, BACKWARD)
  kernel { grid = grid, block = BLOCK, a, b, dy, da, db, a.numel }
  return { a = da, b = db }
end

return M
