-- rms_norm the plain way, to compare with (`--vs plain`): one block per row, one element at a time, two passes.
local mod = gpu.compile("rms_norm_plain.cu")
local M = {}

local THREADS = 128 -- as in rms_norm_plain.cu

function M.rms_norm(x, weight, bias, eps)
  local n = x.shape[#x.shape]
  local rows = x.numel // n
  local y, rstd = gpu.empty_like(x), gpu.empty({ rows }, "float32")
  mod:kernel("rms_norm_plain_fwd", x.dtype) {
    grid = rows, block = THREADS, x, weight, bias or gpu.null, y, rstd, n, eps,
  }
  return y, { x = x, weight = weight, bias = bias, rstd = rstd }
end

function M.rms_norm_backward(saved, dy)
  local x, weight, bias, rstd = saved.x, saved.weight, saved.bias, saved.rstd
  local n = x.shape[#x.shape]
  local rows = x.numel // n
  local dx, dw = gpu.empty_like(x), gpu.empty_like(weight)
  local db = bias and gpu.empty_like(bias) or nil
  mod:kernel("rms_norm_plain_bwd", x.dtype) { grid = rows, block = THREADS, x, weight, dy, rstd, dx, n }
  mod:kernel("rms_norm_plain_bwd_params", x.dtype) {
    grid = gpu.cdiv(n, THREADS), block = THREADS, x, dy, rstd, dw, db or gpu.null, rows, n,
  }
  return { x = dx, weight = dw, bias = db }
end

return M
