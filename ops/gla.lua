-- Yang et al., "Gated Linear Attention Transformers with Hardware-Efficient Training", ICML 2024 (arXiv:2312.06635).
local attention = require "scripts.lib.attention"
local recurrence = require "scripts.lib.recurrence"

return {
  summary = "Causal linear attention with a log forget gate per key channel:"
    .. " S_t = diag(exp(g_t)) S_{t-1} + k_t v_t^T, y_t = scale * q_t S_t.",
  tags = { "linear attention", "sequence mixer" },
  params = {
    { "q", "float[batch, seq, heads, key_dim]" },
    { "k", "float[batch, seq, heads, key_dim]" },
    { "v", "float[batch, seq, heads, value_dim]" },
    { "g", "float[batch, seq, heads, key_dim]" },
    { "softmax_scale", popcorn.null, values = { popcorn.null, 0.25 } },
  },
  returns = { "float[batch, seq, heads, value_dim]" },
  inputs = { g = recurrence.log_gate },

  reference = function(q, k, v, g, softmax_scale)
    local dtype, scale = q.dtype, attention.scale(softmax_scale, q.shape[4])
    q, k, v = attention.heads_first(q) * scale, attention.heads_first(k), attention.heads_first(v)
    return (recurrence.run(q, k, v, { decay = attention.heads_first(g):exp() }, dtype))
  end,

  bytes = attention.bytes({ "q", "k", "v", "g" }, "v"),
  flops = function(c)
    local d = c.dims
    return attention.linear_flops(d.batch * d.heads, d.seq, d.key_dim, d.value_dim)
  end,
}
