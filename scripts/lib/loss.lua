-- What the losses share: reductions, divergences between rows of log-probabilities, cross entropy, and how much traffic
-- and work a loss of logits takes that a linear layer makes.
local linear = require "scripts.lib.linear"

local M = {}

-- Over all elements, or per row for batchmean, as in torch.nn.functional.kl_div.
function M.reduce(loss, reduction)
  if reduction == "none" then return loss end
  if reduction == "mean" then return loss:mean() end
  return reduction == "sum" and loss:sum() or loss:sum() / loss.shape[1]
end

-- The type of a loss of [tokens, vocab]: per element, or one number.
function M.returns(c) return { c.args.reduction == "none" and "float32[tokens, vocab]" or "float32[]" } end

-- sum_v exp(log_a) * (log_a - log_b) per element, before the sum.
local function divergence(log_a, log_b) return log_a:exp() * (log_a - log_b) end

-- Generalized Jensen-Shannon divergence of a student from a teacher, mean over rows: beta * KL(teacher || mixture)
-- + (1 - beta) * KL(student || mixture), mixture = beta * teacher + (1 - beta) * student. At 0 and 1, where that
-- vanishes, KL(teacher || student) and KL(student || teacher).
function M.jensen_shannon(log_student, log_teacher, beta)
  local loss
  if beta == 0 then
    loss = divergence(log_teacher, log_student)
  elseif beta == 1 then
    loss = divergence(log_student, log_teacher)
  else
    local mixture = (log_teacher + math.log(beta)):logaddexp(log_student + math.log(1 - beta))
    loss = divergence(log_teacher, mixture) * beta + divergence(log_student, mixture) * (1 - beta)
  end
  return M.reduce(loss, "batchmean")
end

function M.jensen_shannon_domain(c)
  local beta = c.args.beta
  if beta < 0 or beta > 1 then return false, "beta must be in [0, 1]" end
  return true
end

-- KL(target || x) of log-probabilities x per element; the log of a target probability is taken of at least `eps`.
function M.kl_div(x, target, log_target, eps)
  if log_target then return divergence(target, x) end
  return target * (target:maximum(eps):log() - x)
end

-- Labels of which one in eight is ignored. The last one always is and the first never, so that every draw has both
-- kinds.
function M.labels(draw, c, rng)
  local tokens = c.dims.tokens
  if tokens < 2 then return draw end
  local at = tensor.arange(tokens)
  local ignored = rng:bernoulli(1 / 8, { tokens }):logical_or(at:eq(tokens - 1)):logical_and(at:gt(0))
  return draw:masked_fill(ignored, c.args.ignore_index)
end

-- Cross entropy of float32 or float64 logits; `mean` is over the labels that are not ignored.
function M.cross_entropy(logits, labels, ignore_index, label_smoothing, reduction)
  local log_p = logits:log_softmax(-1)
  local ignored = labels:eq(ignore_index)
  local index = labels:masked_fill(ignored, 0):unsqueeze(-1)
  local loss = -log_p:gather(-1, index):squeeze(-1)
  if label_smoothing > 0 then
    loss = loss * (1 - label_smoothing) - log_p:mean(-1) * label_smoothing
  end
  loss = loss:masked_fill(ignored, 0)
  if reduction == "none" then return loss end
  if reduction == "sum" then return loss:sum() end
  return loss:sum() / ignored:logical_not():to(loss.dtype):sum()
end

-- Logits of a linear layer, rounded to the case's dtype as the layer on its own would.
function M.logits(x, weight, bias) return linear.apply(x:upcast(), weight, bias):upcast() end

-- The logits need not touch memory. Forward reads all inputs; backward reads them and writes the gradients of `trained`.
function M.linear_bytes(trained, rest)
  return function(c)
    local read, written = 0, 0
    for _, name in ipairs(trained) do read, written = read + c.bytes[name], written + c.bytes[name] end
    for _, name in ipairs(rest) do read = read + c.bytes[name] end
    return read, read + written
  end
end

-- Products with the weights of width `hidden` (two more of them backward) and, forward only, of width `teacher`; then
-- `pointwise` operations a logit each way.
function M.linear_flops(hidden, teacher, pointwise)
  return function(c)
    local d = c.dims
    local logits = d.tokens * d.vocab
    local product = 2 * logits * d[hidden]
    return product + (teacher and 2 * logits * d[teacher] or 0) + pointwise * logits, 2 * product + pointwise * logits
  end
end

return M
