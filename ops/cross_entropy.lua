-- torch.nn.functional.cross_entropy with class indices; label smoothing as in Szegedy et al., 2016 (arXiv:1512.00567).
local loss = require "scripts.lib.loss"

return {
  summary = "Cross entropy of logits against integer labels; rows whose label is ignore_index do not count.",
  tags = { "loss" },
  params = {
    { "logits", "float[tokens, vocab]" },
    { "labels", "int64[tokens]", range = { 0, "vocab" } },
    { "ignore_index", -100 },
    { "label_smoothing", 0.0, values = { 0.0, 0.1 } },
    { "reduction", "mean", values = { "mean", "sum", "none" } },
  },
  returns = function(c) return { c.args.reduction == "none" and "float32[tokens]" or "float32[]" } end,

  inputs = { labels = loss.labels },

  reference = function(logits, ...) return loss.cross_entropy(logits:upcast(), ...) end,

  bytes = function(c) return c.bytes.logits + c.bytes.labels, 2 * c.bytes.logits + c.bytes.labels end,
  flops = function(c) return 4 * c.numel.logits, 4 * c.numel.logits end,

  impls = { popcorn = "cross_entropy_cu" },
}
