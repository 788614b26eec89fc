return {
  summary = "Softmax over the last dimension.",
  tags = { "activation" },
  params = { { "x", "float[..., hidden]" } },
  returns = { "float[..., hidden]" },
  reference = function(x) return x:softmax(-1) end,
  bytes = function(c) return 2 * c.bytes.x, 3 * c.bytes.x end,
  flops = function(c) return 4 * c.numel.x, 4 * c.numel.x end,
}
