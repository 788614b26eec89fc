-- Ba, Kiros and Hinton, "Layer Normalization", 2016 (arXiv:1607.06450),
-- and the linear layer of Ma et al., "The Era of 1-bit LLMs", 2024 (arXiv:2402.17764).
local bitlinear = require "scripts.lib.bitlinear"
local linear = require "scripts.lib.linear"
local norm = require "scripts.lib.norm"

return {
  summary = "Layer normalization, then a linear layer of ternary weights on 8-bit tokens; gradients pass"
    .. " straight through the rounding.",
  tags = { "normalization", "linear", "quantized", "surrogate gradient", "fused" },
  params = {
    { "x", "float[..., hidden]" },
    { "norm_weight", "float[hidden]" },
    { "norm_bias", "float[hidden]", optional = true },
    { "linear_weight", "float[out_features, hidden]" },
    { "linear_bias", "float[out_features]", optional = true },
    { "eps", 1e-6, values = { 1e-6, 1e-5 } },
  },
  returns = { "float[..., out_features]" },
  tolerance = bitlinear.tolerance,

  reference = function(x, norm_weight, norm_bias, linear_weight, linear_bias, eps)
    return bitlinear.apply(norm.layer(x, norm_weight, norm_bias, eps), linear_weight, linear_bias)
  end,

  bytes = linear.bytes("linear_weight", { "x", "norm_weight" }, { "norm_bias", "linear_bias" }),
  flops = linear.flops("linear_weight", 17, 14),
}
