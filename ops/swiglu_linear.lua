-- Shazeer, "GLU Variants Improve Transformer", 2020 (arXiv:2002.05202): the gate and the linear layer after it.
local linear = require "scripts.lib.linear"

return {
  summary = "SiLU-gated linear unit, then a linear layer: (silu(x) * y) @ weight.T + bias.",
  tags = { "activation", "linear", "feature mixer", "fused" },
  params = {
    { "x", "float[..., hidden]" },
    { "y", "float[..., hidden]" },
    { "weight", "float[out_features, hidden]" },
    { "bias", "float[out_features]", optional = true },
  },
  returns = { "float[..., out_features]" },

  reference = function(x, y, weight, bias) return linear.apply(x:upcast():silu() * y:upcast(), weight, bias) end,

  bytes = linear.bytes("weight", { "x", "y" }, { "bias" }),
  flops = linear.flops("weight", 5, 10),
}
