-- torch.nn.functional.kl_div; for distillation, Hinton, Vinyals and Dean, 2015 (arXiv:1503.02531).
local loss = require "scripts.lib.loss"

return {
  summary = "Kullback-Leibler divergence of target from exp(x): target * (log(max(target, eps)) - x), or with log_target"
    .. " exp(target) * (target - x); summed, its mean over elements or rows, or as it is.",
  tags = { "loss" },
  params = {
    { "x", "float[tokens, vocab]" },
    { "target", "float[tokens, vocab]" },
    { "reduction", "mean", values = { "mean", "sum", "batchmean", "none" } },
    { "log_target", false, values = { false, true } },
    { "eps", 1e-10 },
  },
  returns = loss.returns,
  inputs = {
    x = function(draw) return draw:log_softmax(-1) end,
    target = function(draw, c) return c.args.log_target and draw:log_softmax(-1) or draw:softmax(-1) end,
  },
  no_grad = { "target" },

  reference = function(x, target, reduction, log_target, eps)
    return loss.reduce(loss.kl_div(x:upcast(), target:upcast(), log_target, eps), reduction)
  end,

  -- The gradient is -target times dy: backward does not read x.
  bytes = function(c)
    local out = c.args.reduction == "none" and 4 * c.numel.x or 4
    return 2 * c.bytes.x + out, 2 * c.bytes.x + out
  end,
  flops = function(c) return 4 * c.numel.x, c.numel.x end,
}
