-- Wu and He, "Group Normalization", 2018 (arXiv:1803.08494); torch.nn.functional.group_norm on tokens.
local norm = require "scripts.lib.norm"

return {
  summary = "Layer normalization of each of num_groups equal parts of a token's channels, times weight, plus bias.",
  tags = { "normalization" },
  params = {
    { "x", "float[tokens, channels]" },
    { "weight", "float[channels]" },
    { "bias", "float[channels]", optional = true },
    { "num_groups", 1, values = { 1, 4 } },
    { "eps", 1e-6, values = { 1e-6, 1e-5 } },
  },
  returns = { "float[tokens, channels]" },
  domain = norm.group_domain,

  reference = function(x, weight, bias, num_groups, eps)
    return norm.group(x, num_groups, weight, bias, eps):to(x.dtype)
  end,

  bytes = norm.bytes({ "x", "weight" }, { "bias" }),
  flops = function(c) return 7 * c.numel.x, 14 * c.numel.x end,
}
