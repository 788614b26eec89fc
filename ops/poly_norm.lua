-- Zhuo et al., "Polynomial Composition Activations: Unleashing the Dynamics of Large Language Models", 2024
-- (arXiv:2411.03884), of order 3.
local norm = require "scripts.lib.norm"

return {
  summary = "Polynomial of normalized powers: weight[0] * n(x^3) + weight[1] * n(x^2) + weight[2] * n(x) + bias,"
    .. " n(z) = z / sqrt(mean(z^2) + eps).",
  tags = { "normalization", "activation" },
  params = {
    { "x", "float[..., hidden]" },
    { "weight", "float[3]" },
    { "bias", "float[]" },
    { "eps", 1e-6, values = { 1e-6, 1e-5 } },
  },
  returns = { "float[..., hidden]" },

  reference = function(x, weight, bias, eps)
    local h, w, y = x:upcast(), weight:upcast(), bias:upcast()
    local powers = { h * h * h, h * h, h }
    for i, power in ipairs(powers) do y = y + norm.rms(power, nil, nil, eps) * w:select(0, i - 1) end
    return y:to(x.dtype)
  end,

  bytes = norm.bytes({ "x", "weight" }, { "bias" }),
  flops = function(c) return 14 * c.numel.x, 30 * c.numel.x end,
}
