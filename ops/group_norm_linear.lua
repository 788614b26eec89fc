-- Wu and He, "Group Normalization", 2018 (arXiv:1803.08494), on tokens, and the linear layer after it.
local linear = require "scripts.lib.linear"
local norm = require "scripts.lib.norm"

return {
  summary = "Layer normalization of each of num_groups equal parts of a token's channels, then a linear layer.",
  tags = { "normalization", "linear", "fused" },
  params = {
    { "x", "float[tokens, channels]" },
    { "norm_weight", "float[channels]" },
    { "norm_bias", "float[channels]", optional = true },
    { "linear_weight", "float[out_features, channels]" },
    { "linear_bias", "float[out_features]", optional = true },
    { "num_groups", 1, values = { 1, 4 } },
    { "eps", 1e-6, values = { 1e-6, 1e-5 } },
  },
  returns = { "float[tokens, out_features]" },
  domain = norm.group_domain,

  reference = function(x, norm_weight, norm_bias, linear_weight, linear_bias, num_groups, eps)
    local h = norm.group(x, num_groups, norm_weight, norm_bias, eps)
    return linear.apply(h, linear_weight, linear_bias)
  end,

  bytes = linear.bytes("linear_weight", { "x", "norm_weight" }, { "norm_bias", "linear_bias" }),
  flops = linear.flops("linear_weight", 7, 14),
}
