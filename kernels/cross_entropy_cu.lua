-- cross_entropy for CUDA C++: one read of the logits forward (online softmax), one read and one write backward.
local mod = gpu.compile("cross_entropy.cu")
local M = {}

local cpu = gpu.device.kind == "cpu"
local ITEM = { float32 = 4, float16 = 2, bfloat16 = 2 }

-- Tuning: elements of a row per thread that are aimed at, and the most threads per row.
local FORWARD, THREADS = 32, cpu and 64 or 512
-- Packs per thread backward, and threads per block.
local BACKWARD, BLOCK = 4, cpu and 64 or 256

local function pack_size(n, dtype)
  local size = ITEM[dtype] or error("cross_entropy_cu: no kernel for " .. dtype .. ", only float32, float16, bfloat16", 0)
  local v = 16 // size
  while n % v ~= 0 do v = v // 2 end
  return v
end

function M.cross_entropy(logits, labels, ignore_index, label_smoothing, reduction)
  local rows, vocab = logits.shape[1], logits.shape[2]
  local v, threads = pack_size(vocab, logits.dtype), 1
  while threads < THREADS and (threads < math.min(32, vocab // v) or threads * FORWARD < vocab) do threads = threads * 2 end
  local rows_per_block = threads > 32 and 1 or 128 // threads
  local loss, top, inverse = gpu.empty({ rows }, "float32"), gpu.empty({ rows }, "float32"), gpu.empty({ rows }, "float32")
  mod:kernel("cross_entropy_fwd", logits.dtype, v, threads, label_smoothing ~= 0.0) {
    grid = gpu.cdiv(rows, rows_per_block), block = { threads, rows_per_block },
    logits, labels, loss, top, inverse, rows, vocab, ignore_index, label_smoothing,
  }
  local saved = {
    logits = logits, labels = labels, top = top, inverse = inverse,
    ignore_index = ignore_index, label_smoothing = label_smoothing, reduction = reduction,
  }
  if reduction == "none" then return loss, saved end

  local out, counted = gpu.empty({}, "float32"), gpu.empty({ 1 }, "float32")
  local block = cpu and 64 or 1024
  mod:kernel("cross_entropy_reduce", block, reduction == "mean") {
    grid = 1, block = block, loss, labels, out, counted, rows, ignore_index,
  }
  saved.counted = counted
  return out, saved
end

function M.cross_entropy_backward(saved, dy)
  local logits = saved.logits
  local rows, vocab = logits.shape[1], logits.shape[2]
  local v, dlogits = pack_size(vocab, logits.dtype), gpu.empty_like(logits)
  mod:kernel("cross_entropy_bwd", logits.dtype, v, saved.reduction == "none") {
    grid = { rows, gpu.cdiv(vocab, v * BACKWARD * BLOCK) }, block = BLOCK,
    logits, saved.labels, saved.top, saved.inverse, saved.reduction == "mean" and saved.counted or gpu.null, dy,
    dlogits, vocab, saved.ignore_index, saved.label_smoothing,
  }
  return { logits = dlogits }
end

return M
