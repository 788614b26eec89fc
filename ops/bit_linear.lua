-- Wang et al., "BitNet: Scaling 1-bit Transformers for Large Language Models", 2023 (arXiv:2310.11453), with the ternary
-- weights of Ma et al., "The Era of 1-bit LLMs", 2024 (arXiv:2402.17764).
local bitlinear = require "scripts.lib.bitlinear"
local linear = require "scripts.lib.linear"
local norm = require "scripts.lib.norm"

local EPS = 1e-6

return {
  summary = "BitNet's linear layer: root-mean-square normalization, tokens rounded to 8 bits, weights to -1, 0 or 1"
    .. " times their mean magnitude; gradients pass straight through the rounding.",
  tags = { "linear", "quantized", "surrogate gradient", "fused" },
  params = {
    { "x", "float[..., hidden]" },
    { "weight", "float[out_features, hidden]" },
    { "bias", "float[out_features]", optional = true },
    { "norm_weight", "float[hidden]", optional = true },
    { "norm_bias", "float[hidden]", optional = true },
  },
  returns = { "float[..., out_features]" },
  tolerance = bitlinear.tolerance,

  reference = function(x, weight, bias, norm_weight, norm_bias)
    return bitlinear.apply(norm.rms(x, norm_weight, norm_bias, EPS), weight, bias)
  end,

  bytes = linear.bytes("weight", { "x", "norm_weight" }, { "bias", "norm_bias" }),
  flops = linear.flops("weight", 14, 10),
}
