-- torch.nn.functional.cross_entropy on the logits of a linear layer, which need not be stored: Wijmans et al., "Cut Your
-- Losses in Large-Vocabulary Language Models", 2024 (arXiv:2411.09009).
local loss = require "scripts.lib.loss"

return {
  summary = "Cross entropy of the logits x @ weight.T + bias against integer labels; rows whose label is ignore_index do"
    .. " not count.",
  tags = { "loss", "linear", "fused" },
  params = {
    { "x", "float[tokens, hidden]" },
    { "weight", "float[vocab, hidden]" },
    { "labels", "int64[tokens]", range = { 0, "vocab" } },
    { "bias", "float[vocab]", optional = true },
    { "ignore_index", -100 },
    { "label_smoothing", 0.0, values = { 0.0, 0.1 } },
    { "reduction", "mean", values = { "mean", "sum" } },
  },
  returns = { "float32[]" },
  inputs = { labels = loss.labels },

  reference = function(x, weight, labels, bias, ...)
    return loss.cross_entropy(loss.logits(x, weight, bias), labels, ...)
  end,

  bytes = loss.linear_bytes({ "x", "weight", "bias" }, { "labels" }),
  flops = loss.linear_flops("hidden", nil, 4),
}
