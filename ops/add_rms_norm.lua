-- A transformer block's residual addition fused with the norm that follows it (arXiv:1910.07467 for the norm).
return {
  summary = "Residual addition, then root-mean-square normalization: s = x + residual, y = s / sqrt(mean(s^2) + eps) * (weight + offset); returns y and s.",
  tags = { "normalization", "fused" },
  params = {
    { "x", "float[..., hidden]" },
    { "residual", "float[..., hidden]" },
    { "weight", "float[hidden]" },
    { "eps", 1e-6, values = { 1e-6, 1e-5 } },
    { "offset", 0.0, values = { 0.0, 1.0 } },
  },
  returns = { "float[..., hidden]", "float[..., hidden]" },

  reference = function(x, residual, weight, eps, offset)
    local s = x + residual
    local h = s:upcast()
    local y = h * (h:square():mean(-1, true) + eps):rsqrt() * (weight:upcast() + offset)
    return y:to(x.dtype), s
  end,

  -- Backward reads s, dy and ds and writes one gradient, which x and residual share.
  bytes = function(c) return 4 * c.bytes.x + c.bytes.weight, 4 * c.bytes.x + 2 * c.bytes.weight end,
  flops = function(c) return 5 * c.numel.x, 11 * c.numel.x end,
}
