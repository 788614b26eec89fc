-- geglu for CUDA C++: elementwise, 16-byte accesses, the tail one element at a time.
local mod = gpu.compile("geglu.cu")
local M = {}

local ITEM = { float32 = 4, float16 = 2, bfloat16 = 2 }

-- Tuning: packs per thread and threads per block.
local UNROLL, BLOCK = 1, 128

local function launch(name, x)
  local size = ITEM[x.dtype] or error("geglu_cu: no kernel for " .. x.dtype .. ", only float32, float16, bfloat16", 0)
  local v = 16 // size
  return mod:kernel(name, x.dtype, v, UNROLL), gpu.cdiv(x.numel, v * UNROLL * BLOCK)
end

function M.geglu(a, b)
  local y = gpu.empty_like(a)
  local kernel, grid = launch("geglu_fwd", a)
  kernel { grid = grid, block = BLOCK, a, b, y, a.numel }
  return y, { a = a, b = b }
end

function M.geglu_backward(saved, dy)
  local a, b = saved.a, saved.b
  local da, db = gpu.empty_like(a), gpu.empty_like(b)
  local kernel, grid = launch("geglu_bwd", a)
  kernel { grid = grid, block = BLOCK, a, b, dy, da, db, a.numel }
  return { a = da, b = db }
end

return M
