-- Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016 (arXiv:1606.08415), in its tanh form; fused with the bias of
-- the linear layer before it as in Megatron-LM (arXiv:1909.08053).
return {
  summary = "Bias, then GELU by its tanh approximation: gelu(x + bias).",
  tags = { "activation", "fused" },
  params = {
    { "x", "float[..., hidden]" },
    { "bias", "float[hidden]" },
  },
  returns = { "float[..., hidden]" },

  reference = function(x, bias)
    return (x:upcast() + bias:upcast()):gelu({ approximate = "tanh" }):to(x.dtype)
  end,

  bytes = function(c) return 2 * c.bytes.x + c.bytes.bias, 3 * c.bytes.x + 2 * c.bytes.bias end,
  flops = function(c) return 9 * c.numel.x, 18 * c.numel.x end,
}
