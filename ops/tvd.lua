-- Total variation distance; for distillation, Wen et al., "f-Divergence Minimization for Sequence-Level Knowledge
-- Distillation", 2023 (arXiv:2307.15190).
local loss = require "scripts.lib.loss"

local function softmax(draw) return draw:softmax(-1) end

return {
  summary = "Total variation distance of probabilities: |p - q| / 2; summed, its mean over elements or rows, or as it"
    .. " is.",
  tags = { "loss" },
  params = {
    { "p", "float[tokens, vocab]" },
    { "q", "float[tokens, vocab]" },
    { "reduction", "mean", values = { "mean", "sum", "batchmean", "none" } },
  },
  returns = loss.returns,
  inputs = { p = softmax, q = softmax },
  no_grad = { "q" },

  reference = function(p, q, reduction) return loss.reduce((p:upcast() - q:upcast()):abs() / 2, reduction) end,

  bytes = function(c)
    local out = c.args.reduction == "none" and 4 * c.numel.p or 4
    return 2 * c.bytes.p + out, 3 * c.bytes.p + out
  end,
  flops = function(c) return 3 * c.numel.p, 3 * c.numel.p end,
}
