-- matmul with an optional activation: one fused launch for small products, the device's library for large ones.
local mod = gpu.compile("matmul.cu")
local M = {}

local ITEM = { float32 = 4, float16 = 2, bfloat16 = 2 }
local ACTIVATION = { [""] = 0, leaky_relu = 1, relu = 2, sigmoid = 3, tanh = 4 }

-- Multiply-adds up to which one launch of our own beats a library call and a second pass.
local SMALL = 2 ^ 21

-- Their slope is lost once the value is rounded, so it is stored beside it.
local SATURATES = { sigmoid = true, tanh = true }

function M.matmul(a, b, activation)
  local size = ITEM[a.dtype] or error("matmul_cu: no kernel for " .. a.dtype .. ", only float32, float16, bfloat16", 0)
  local act = ACTIVATION[activation] or error("matmul_cu: no activation '" .. activation .. "'", 0)
  local rows, inner, cols = a.shape[1], a.shape[2], b.shape[2]
  local out = gpu.empty({ rows, cols }, a.dtype)
  local slopes = SATURATES[activation] and gpu.empty_like(out)
  local saved = { a = a, b = b, of_activation = slopes or out, activation = activation }
  if rows * inner * cols <= SMALL then
    mod:kernel("matmul_tile", a.dtype, act) {
      grid = { gpu.cdiv(cols, 64), gpu.cdiv(rows, 64) }, block = 256,
      a, b, out, slopes or gpu.null, rows, cols, inner,
    }
    return out, saved
  end
  gpu.matmul(a, b, { out = out })
  if act ~= 0 then
    local v = 16 // size
    mod:kernel("activate", a.dtype, v, act) {
      grid = gpu.cdiv(out.numel, v * 256), block = 256, out, slopes or gpu.null, out.numel,
    }
  end
  return out, saved
end

function M.matmul_backward(saved, dout)
  local act, dz = ACTIVATION[saved.activation], dout
  if act ~= 0 then
    local v = 16 // ITEM[dout.dtype]
    dz = gpu.empty_like(dout)
    mod:kernel("activate_bwd", dout.dtype, v, act) {
      grid = gpu.cdiv(dout.numel, v * 256), block = 256, saved.of_activation, dout, dz, dout.numel,
    }
  end
  return { a = gpu.matmul(dz, saved.b, { trans_b = true }), b = gpu.matmul(saved.a, dz, { trans_a = true }) }
end

return M
