-- layer_norm for CUDA C++: one pass over a row that its threads hold in registers; weight gradients as partial sums.
local mod = gpu.compile("layer_norm.cu")
local M = {}

local cpu = gpu.device.kind == "cpu"
local ITEM = { float32 = 4, float16 = 2, bfloat16 = 2 }

-- Tuning per pass: elements of a row per thread that are aimed at, most threads per row, and most 4-byte registers
-- that a thread holds of one tensor's row.
local FORWARD = { elements = 32, threads = 1024, registers = 32 }
local BACKWARD = { elements = 16, threads = 512, registers = 52 }
-- Blocks of 256 threads per multiprocessor that share the rows in backward.
local BLOCKS = 4

-- How a row of n elements is worked on (see common/row.cuh): elements per access, threads per row, packs per thread
-- (0 if the row does not fit in registers) and rows per block.
local function row_shape(n, dtype, pass)
  local size = ITEM[dtype] or error("layer_norm_cu: no kernel for " .. dtype .. ", only float32, float16, bfloat16", 0)
  local v = 16 // size
  while n % v ~= 0 do v = v // 2 end
  local most = cpu and 64 or pass.threads -- few fibers: the cpu device pays for each thread at a barrier
  local threads = 1
  while threads < most and (threads < math.min(32, n // v) or threads * pass.elements < n) do threads = threads * 2 end
  local held = gpu.cdiv(n // v, threads)
  if held * v * size > 4 * (cpu and 64 or pass.registers) then held = 0 end
  return { v = v, threads = threads, held = held, rows = threads > 32 and 1 or 128 // threads, size = size }
end

-- Adds float32 partial sums [parts, n] into a gradient like `param`.
local function sum_parts(partial, param, parts, n)
  local lanes, out = cpu and 4 or 16, gpu.empty_like(param)
  mod:kernel("sum_parts", param.dtype, lanes) { grid = gpu.cdiv(n, 32), block = { 32, lanes }, partial, out, parts, n }
  return out
end

function M.layer_norm(x, weight, bias, eps)
  local n = x.shape[#x.shape]
  local rows = x.numel // n
  local s = row_shape(n, x.dtype, FORWARD)
  local y, mean = gpu.empty_like(x), gpu.empty({ rows }, "float32")
  local rstd = gpu.empty({ rows }, "float32")
  mod:kernel("layer_norm_fwd", x.dtype, s.v, s.threads, s.held) {
    grid = gpu.cdiv(rows, s.rows), block = { s.threads, s.rows },
    x, weight, bias or gpu.null, y, mean, rstd, rows, n, eps,
  }
  return y, { x = x, weight = weight, bias = bias, mean = mean, rstd = rstd }
end

function M.layer_norm_backward(saved, dy)
  local x, weight, bias, mean, rstd = saved.x, saved.weight, saved.bias, saved.mean, saved.rstd
  local n, dtype = x.shape[#x.shape], x.dtype
  local rows = x.numel // n
  local s = row_shape(n, dtype, BACKWARD)
  local dx = gpu.empty_like(x)

  -- Partial sums ride along where a thread can keep its columns' sums in registers too; else a second kernel makes them.
  local ride = s.held > 0 and (cpu or s.held * s.v * s.size <= 64)
  local grid, parts = gpu.cdiv(rows, s.rows), 0
  if ride then
    local workers = math.max(1, math.min(gpu.cdiv(rows, 4), gpu.device.processors * BLOCKS * math.max(1, 256 // s.threads)))
    grid = gpu.cdiv(workers, s.rows)
    parts = grid * s.rows
  else
    local columns = gpu.cdiv(n, 32 * s.v)
    parts = math.min(gpu.cdiv(rows, 8), gpu.cdiv(gpu.device.processors * 8, columns)) * 8
  end
  local dw = gpu.empty({ parts, n }, "float32")
  local db = bias and gpu.empty({ parts, n }, "float32") or gpu.null

  mod:kernel("layer_norm_bwd", dtype, s.v, s.threads, s.held, ride and (bias and 2 or 1) or 0) {
    grid = grid, block = { s.threads, s.rows },
    x, weight, dy, mean, rstd, dx, ride and dw or gpu.null, ride and db or gpu.null, rows, n,
  }
  if not ride then
    mod:kernel("norm_weight_parts", dtype, s.v) {
      grid = { gpu.cdiv(n, 32 * s.v), parts // 8 }, block = { 32, 8 },
      x, dy, mean, rstd, dw, db, rows, n, parts,
    }
  end
  return {
    x = dx,
    weight = sum_parts(dw, weight, parts, n),
    bias = bias and sum_parts(db, bias, parts, n) or nil,
  }
end

return M
