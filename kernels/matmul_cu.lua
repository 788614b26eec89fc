-- matmul with an optional activation: one fused launch for small products, the device's library for large ones.
local mod = gpu.compile("matmul.cu")
local M = {}

local ITEM = { float32 = 4, float16 = 2, bfloat16 = 2 }
local ACTIVATION = { [""] = 0, leaky_relu = 1, relu = 2, sigmoid = 3, tanh = 4 }

-- Multiply-adds up to which one launch of our own beats a library call and a second pass.
local SMALL = 2 ^ 21

function M.matmul(a, b, activation)
  local size = ITEM[a.dtype] or error("matmul_cu: no kernel for " .. a.dtype .. ", only float32, float16, bfloat16", 0)
  local act = ACTIVATION[activation] or error("matmul_cu: no activation '" .. activation .. "'", 0)
  local rows, inner, cols = a.shape[1], a.shape[2], b.shape[2]
  local out = gpu.empty({ rows, cols }, a.dtype)
  if rows * inner * cols <= SMALL then
    mod:kernel("matmul_tile", a.dtype, act) {
      grid = { gpu.cdiv(cols, 64), gpu.cdiv(rows, 64) }, block = 256, a, b, out, rows, cols, inner,
    }
    return out, {}
  end
  gpu.matmul(a, b, { out = out })
  if act ~= 0 then
    local v = 16 // size
    mod:kernel("activate", a.dtype, v, act) { grid = gpu.cdiv(out.numel, v * 256), block = 256, out, out.numel }
  end
  return out, {}
end

return M
