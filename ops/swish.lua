-- Ramachandran, Zoph and Le, "Searching for Activation Functions", 2017 (arXiv:1710.05941), with beta 1;
-- torch.nn.functional.silu.
return {
  summary = "Sigmoid-weighted linear unit: x * sigmoid(x).",
  tags = { "activation" },
  params = {
    { "x", "float[..., hidden]" },
  },
  returns = { "float[..., hidden]" },

  reference = function(x) return x:upcast():silu():to(x.dtype) end,

  bytes = function(c) return 2 * c.bytes.x, 3 * c.bytes.x end,
  flops = function(c) return 5 * c.numel.x, 9 * c.numel.x end,

  impls = { popcorn = "swish_cu" },
}
