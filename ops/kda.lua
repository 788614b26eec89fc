-- Kimi Team, "Kimi Linear: An Expressive, Efficient Attention Architecture", 2025 (arXiv:2510.26692).
local attention = require "scripts.lib.attention"
local recurrence = require "scripts.lib.recurrence"

return {
  summary = "Kimi delta attention, the delta rule with a log forget gate per key channel: D_t = diag(exp(g_t)) S_{t-1},"
    .. " S_t = D_t + beta_t k_t (v_t - k_t D_t)^T, y_t = scale * q_t S_t.",
  tags = { "linear attention", "sequence mixer" },
  params = {
    { "q", "float[batch, seq, heads, key_dim]" },
    { "k", "float[batch, seq, heads, key_dim]" },
    { "v", "float[batch, seq, heads, value_dim]" },
    { "g", "float[batch, seq, heads, key_dim]" },
    { "beta", "float[batch, seq, heads]" },
    { "softmax_scale", popcorn.null, values = { popcorn.null, 0.25 } },
  },
  returns = { "float[batch, seq, heads, value_dim]" },
  inputs = { k = recurrence.unit, g = recurrence.log_gate, beta = recurrence.gate },

  reference = function(q, k, v, g, beta, softmax_scale)
    local dtype, scale = q.dtype, attention.scale(softmax_scale, q.shape[4])
    q, k, v = attention.heads_first(q) * scale, attention.heads_first(k), attention.heads_first(v)
    local written = k * recurrence.column(beta)
    return (recurrence.run(q, written, v, { decay = attention.heads_first(g):exp(), a = k, b = -written }, dtype))
  end,

  bytes = attention.bytes({ "q", "k", "v", "g", "beta" }, "v"),
  flops = function(c)
    local d = c.dims
    return recurrence.delta_flops(d.batch * d.heads, d.seq, d.key_dim, d.value_dim)
  end,
}
