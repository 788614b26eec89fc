-- softmax over the last dim for CUDA C++: one pass over a row held in registers, online when it does not fit.
local mod = gpu.compile("softmax.cu")
local M = {}

local cpu = gpu.device.kind == "cpu"
local ITEM = { float32 = 4, float16 = 2, bfloat16 = 2 }

-- Tuning per pass: elements of a row per thread that are aimed at, and the most that a thread holds in registers.
local FORWARD = { elements = 32, held = 104 } -- exponentials as float
local BACKWARD = { elements = 16, held = 36 } -- y as float and dy

-- How a row of n elements is worked on (see common/row.cuh): elements per access, threads per row, packs per thread
-- (0 if the row does not fit in registers) and rows per block.
local function row_shape(n, dtype, pass)
  local size = ITEM[dtype] or error("softmax_cu: no kernel for " .. dtype .. ", only float32, float16, bfloat16", 0)
  local v = 16 // size
  while n % v ~= 0 do v = v // 2 end
  local most = cpu and 64 or 512 -- few fibers: the cpu device pays for each thread at a barrier
  local threads = 1
  while threads < most and (threads < math.min(32, n // v) or threads * pass.elements < n) do threads = threads * 2 end
  local held = gpu.cdiv(n // v, threads)
  if held * v > (cpu and 64 or pass.held) then held = 0 end
  return { v = v, threads = threads, held = held, rows = threads > 32 and 1 or 128 // threads }
end

function M.softmax(x)
  local n = x.shape[#x.shape]
  local rows = x.numel // n
  local s = row_shape(n, x.dtype, FORWARD)
  local y = gpu.empty_like(x)
  local top, inverse = gpu.empty({ rows }, "float32"), gpu.empty({ rows }, "float32")
  mod:kernel("softmax_fwd", x.dtype, s.v, s.threads, s.held) {
    grid = gpu.cdiv(rows, s.rows), block = { s.threads, s.rows },
    x, y, top, inverse, rows, n,
  }
  return y, { x = x, top = top, inverse = inverse }
end

function M.softmax_backward(saved, dy)
  local x = saved.x
  local n = x.shape[#x.shape]
  local rows = x.numel // n
  local s = row_shape(n, x.dtype, BACKWARD)
  local dx = gpu.empty_like(x)
  mod:kernel("softmax_bwd", x.dtype, s.v, s.threads, s.held) {
    grid = gpu.cdiv(rows, s.rows), block = { s.threads, s.rows },
    x, saved.top, saved.inverse, dy, dx, rows, n,
  }
  return { x = dx }
end

return M
