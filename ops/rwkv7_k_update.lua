-- Peng et al., "RWKV-7 Goose with Expressive Dynamic State Evolution", 2025 (arXiv:2503.14456): the replacement key.
return {
  summary = "Key scaled by its in-context learning rate: k * (1 + (a - 1) * ka).",
  tags = { "activation", "fused" },
  params = {
    { "k", "float[batch, seq, hidden]" },
    { "a", "float[batch, seq, hidden]" },
    { "ka", "float[hidden]" },
  },
  returns = { "float[batch, seq, hidden]" },

  reference = function(k, a, ka)
    return (k:upcast() * (1 + (a:upcast() - 1) * ka:upcast())):to(k.dtype)
  end,

  bytes = function(c) return 3 * c.bytes.k + c.bytes.ka, 5 * c.bytes.k + 2 * c.bytes.ka end,
  flops = function(c) return 4 * c.numel.k, 9 * c.numel.k end,
}
