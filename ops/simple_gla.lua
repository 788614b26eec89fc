-- Yang et al., "Gated Linear Attention Transformers with Hardware-Efficient Training", 2023 (arXiv:2312.06635), with one
-- gate per head, as in Dao and Gu, "Transformers are SSMs", 2024 (arXiv:2405.21060).
local attention = require "scripts.lib.attention"

return {
  summary = "Causal linear attention with a scalar log forget gate per head and token:"
    .. " S_t = exp(g_t) S_{t-1} + k_t v_t^T, y_t = scale * q_t S_t.",
  tags = { "linear attention", "sequence mixer" },
  params = {
    { "q", "float[batch, seq, heads, key_dim]" },
    { "k", "float[batch, seq, heads, key_dim]" },
    { "v", "float[batch, seq, heads, value_dim]" },
    { "g", "float[batch, seq, heads]" },
    { "softmax_scale", popcorn.null, values = { popcorn.null, 0.25 } },
  },
  returns = { "float[batch, seq, heads, value_dim]" },
  inputs = { g = function(draw) return draw:logsigmoid() end },

  -- The recurrence, unrolled: token j has been through the gates j+1 .. i when token i reads it.
  reference = function(q, k, v, g, softmax_scale)
    local dtype, scale = q.dtype, attention.scale(softmax_scale, q.shape[4])
    q, k, v = attention.heads_first(q) * scale, attention.heads_first(k), attention.heads_first(v)
    local decay = attention.decay(attention.heads_first(g))
    return attention.heads_last((q:matmul(k.mT) * decay):matmul(v), dtype)
  end,

  bytes = attention.bytes({ "q", "k", "v", "g" }, "v"),
  flops = function(c)
    local d = c.dims
    return attention.linear_flops(d.batch * d.heads, d.seq, d.key_dim, d.value_dim)
  end,
}
