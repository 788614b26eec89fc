-- sqrelu for CUDA C++: elementwise, 16-byte accesses, the tail one element at a time.
local mod = gpu.compile("sqrelu.cu")
local M = {}

local ITEM = { float32 = 4, float16 = 2, bfloat16 = 2 }

-- Tuning: packs per thread and threads per block.
local UNROLL, BLOCK = 1, 128

local function launch(name, x)
  local size = ITEM[x.dtype] or error("sqrelu_cu: no kernel for " .. x.dtype .. ", only float32, float16, bfloat16", 0)
  local v = 16 // size
  return mod:kernel(name, x.dtype, v, UNROLL), gpu.cdiv(x.numel, v * UNROLL * BLOCK)
end

function M.sqrelu(x)
  local y = gpu.empty_like(x)
  local kernel, grid = launch("sqrelu_fwd", x)
  kernel { grid = grid, block = BLOCK, x, y, x.numel }
  return y, { x = x }
end

function M.sqrelu_backward(saved, dy)
  local x, dx = saved.x, gpu.empty_like(saved.x)
  local kernel, grid = launch("sqrelu_bwd", x)
  kernel { grid = grid, block = BLOCK, x, dy, dx, x.numel }
  return { x = dx }
end

return M
