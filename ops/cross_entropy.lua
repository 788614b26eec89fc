-- torch.nn.functional.cross_entropy with class indices; label smoothing as in Szegedy et al., 2016 (arXiv:1512.00567).
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

  inputs = {
    -- One label in eight is ignored. The last one always is and the first never, so that every draw has both kinds.
    labels = function(draw, c, rng)
      local tokens = c.dims.tokens
      if tokens < 2 then return draw end
      local at = tensor.arange(tokens)
      local ignored = rng:bernoulli(1 / 8, { tokens }):logical_or(at:eq(tokens - 1)):logical_and(at:gt(0))
      return draw:masked_fill(ignored, c.args.ignore_index)
    end,
  },

  reference = function(logits, labels, ignore_index, label_smoothing, reduction)
    local log_p = logits:upcast():log_softmax(-1)
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
  end,

  bytes = function(c) return c.bytes.logits + c.bytes.labels, 2 * c.bytes.logits + c.bytes.labels end,
  flops = function(c) return 4 * c.numel.logits, 4 * c.numel.logits end,

  impls = { popcorn = "cross_entropy_cu" },
}
