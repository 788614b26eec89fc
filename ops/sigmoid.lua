-- torch.sigmoid, the logistic function.
return {
  summary = "Logistic sigmoid: 1 / (1 + exp(-x)).",
  tags = { "activation" },
  params = {
    { "x", "float[..., hidden]" },
  },
  returns = { "float[..., hidden]" },

  reference = function(x) return x:upcast():sigmoid():to(x.dtype) end,

  -- Backward reads x or y, and dy.
  bytes = function(c) return 2 * c.bytes.x, 3 * c.bytes.x end,
  flops = function(c) return 4 * c.numel.x, 3 * c.numel.x end,

  impls = { popcorn = "sigmoid_cu" },
}
