-- Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016 (arXiv:1606.08415); torch.nn.functional.gelu.
return {
  summary = "Gaussian error linear unit: x * Phi(x), exact (none) or by its tanh approximation.",
  tags = { "activation" },
  params = {
    { "x", "float[..., hidden]" },
    { "approximate", "none", values = { "none", "tanh" } },
  },
  returns = { "float[..., hidden]" },

  reference = function(x, approximate) return x:upcast():gelu({ approximate = approximate }):to(x.dtype) end,

  bytes = function(c) return 2 * c.bytes.x, 3 * c.bytes.x end,
  flops = function(c) return 8 * c.numel.x, 16 * c.numel.x end,

  impls = { popcorn = "gelu_cu" },
}
