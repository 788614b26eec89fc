-- Peng et al., "RWKV-7 Goose with Expressive Dynamic State Evolution", 2025 (arXiv:2503.14456): the bonus for the
-- current token and the output gate, after the recurrence.
return {
  summary = "Bonus and output gate of RWKV-7: (o + (sum_d r * k * r_k) * v) * g, the sum over each head's channels.",
  tags = { "activation", "reduction", "fused" },
  params = {
    { "o", "float[batch, seq, heads, head_dim]" },
    { "r", "float[batch, seq, heads, head_dim]" },
    { "k", "float[batch, seq, heads, head_dim]" },
    { "r_k", "float[heads, head_dim]" },
    { "v", "float[batch, seq, heads, head_dim]" },
    { "g", "float[batch, seq, heads, head_dim]" },
  },
  returns = { "float[batch, seq, heads, head_dim]" },

  reference = function(o, r, k, r_k, v, g)
    local bonus = (r:upcast() * k:upcast() * r_k:upcast()):sum(-1, true) * v:upcast()
    return ((o:upcast() + bonus) * g:upcast()):to(o.dtype)
  end,

  -- Backward reads the five tensors, r_k and dy, and writes a gradient for each input.
  bytes = function(c) return 6 * c.bytes.o + c.bytes.r_k, 11 * c.bytes.o + 2 * c.bytes.r_k end,
  flops = function(c) return 6 * c.numel.o, 18 * c.numel.o end,
}
