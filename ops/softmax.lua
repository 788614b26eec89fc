-- torch.softmax; the maximum is subtracted first, so that no finite input overflows.
return {
  summary = "Softmax over the last dimension.",
  tags = { "activation", "reduction" },
  params = {
    { "x", "float[..., hidden]" },
  },
  returns = { "float[..., hidden]" },

  reference = function(x) return x:upcast():softmax(-1):to(x.dtype) end,

  bytes = function(c) return 2 * c.bytes.x, 3 * c.bytes.x end,
  flops = function(c) return 4 * c.numel.x, 4 * c.numel.x end,

  impls = { popcorn = "softmax_cu" },
}
