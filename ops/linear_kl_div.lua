-- Hinton, Vinyals and Dean, "Distilling the Knowledge in a Neural Network", 2015 (arXiv:1503.02531), on the logits of
-- linear layers, which need not be stored.
local loss = require "scripts.lib.loss"

return {
  summary = "Kullback-Leibler divergence of softmax(target_x @ target_weight.T) from softmax(x @ weight.T), mean over"
    .. " tokens.",
  tags = { "loss", "linear", "fused" },
  params = {
    { "x", "float[tokens, hidden]" },
    { "target_x", "float[tokens, target_hidden]" },
    { "weight", "float[vocab, hidden]" },
    { "target_weight", "float[vocab, target_hidden]" },
    { "reduction", "batchmean", values = { "batchmean" } },
  },
  returns = loss.returns,
  no_grad = { "target_x", "target_weight" },

  reference = function(x, target_x, weight, target_weight, reduction)
    local log_p = loss.logits(x, weight):log_softmax(-1)
    local target = loss.logits(target_x, target_weight):log_softmax(-1)
    return loss.reduce(loss.kl_div(log_p, target, true), reduction)
  end,

  bytes = loss.linear_bytes({ "x", "weight" }, { "target_x", "target_weight" }),
  flops = loss.linear_flops("hidden", "target_hidden", 10),
}
