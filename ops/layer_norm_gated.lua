-- Ba, Kiros and Hinton, "Layer Normalization", 2016 (arXiv:1607.06450), with the output gate of Sun et al., "Retentive
-- Network", 2023 (arXiv:2307.08621).
local norm = require "scripts.lib.norm"

return {
  summary = "Layer normalization times a gate: (normalize(x) * weight + bias) * g * sigmoid(g), or * sigmoid(g).",
  tags = { "normalization", "activation", "fused" },
  params = {
    { "x", "float[..., hidden]" },
    { "g", "float[..., hidden]" },
    { "weight", "float[hidden]" },
    { "bias", "float[hidden]", optional = true },
    { "activation", "swish", values = { "swish", "sigmoid" } },
    { "eps", 1e-6, values = { 1e-6, 1e-5 } },
  },
  returns = { "float[..., hidden]" },

  reference = function(x, g, weight, bias, activation, eps)
    return (norm.layer(x, weight, bias, eps) * norm.gate(g, activation)):to(x.dtype)
  end,

  bytes = norm.bytes({ "x", "g", "weight" }, { "bias" }),
  flops = function(c) return 13 * c.numel.x, 26 * c.numel.x end,
}
