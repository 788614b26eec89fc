-- Zhu et al., "Transformers without Normalization", 2025 (arXiv:2503.10622).
return {
  summary = "Dynamic tanh, a stand-in for normalization: y = gamma * tanh(alpha * x) + beta, alpha one number.",
  tags = { "activation", "normalization" },
  params = {
    { "x", "float[..., hidden]" },
    { "alpha", "float[1]" },
    { "gamma", "float[hidden]" },
    { "beta", "float[hidden]", optional = true },
  },
  returns = { "float[..., hidden]" },

  reference = function(x, alpha, gamma, beta)
    local y = (alpha:upcast() * x:upcast()):tanh() * gamma:upcast()
    if beta then y = y + beta:upcast() end
    return y:to(x.dtype)
  end,

  -- Backward needs no beta, but writes its gradient.
  bytes = function(c)
    local read = c.bytes.x + c.bytes.alpha + c.bytes.gamma
    return read + c.bytes.beta + c.bytes.x, 2 * read + c.bytes.beta + c.bytes.x
  end,
  flops = function(c) return 4 * c.numel.x, 10 * c.numel.x end,
}
