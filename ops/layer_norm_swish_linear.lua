-- Ba, Kiros and Hinton, "Layer Normalization", 2016 (arXiv:1607.06450),
-- with the output gate of Sun et al., "Retentive Network", 2023 (arXiv:2307.08621), and the projection after it.
local linear = require "scripts.lib.linear"
local norm = require "scripts.lib.norm"

return {
  summary = "Layer normalization times a gate, then a linear layer: (normalize(x) * norm_weight + norm_bias) * swish(g)"
    .. " @ linear_weight.T + linear_bias.",
  tags = { "normalization", "activation", "linear", "fused" },
  params = {
    { "x", "float[..., hidden]" },
    { "g", "float[..., hidden]" },
    { "norm_weight", "float[hidden]" },
    { "norm_bias", "float[hidden]", optional = true },
    { "linear_weight", "float[out_features, hidden]" },
    { "linear_bias", "float[out_features]", optional = true },
    { "eps", 1e-6, values = { 1e-6, 1e-5 } },
  },
  returns = { "float[..., out_features]" },

  reference = function(x, g, norm_weight, norm_bias, linear_weight, linear_bias, eps)
    local h = norm.layer(x, norm_weight, norm_bias, eps) * norm.gate(g, "swish")
    return linear.apply(h, linear_weight, linear_bias)
  end,

  bytes = linear.bytes("linear_weight", { "x", "g", "norm_weight" }, { "norm_bias", "linear_bias" }),
  flops = linear.flops("linear_weight", 13, 26),
}
