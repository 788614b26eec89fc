-- Hu et al., "Comba: Improving Bilinear RNNs with Closed-loop Control", 2025 (arXiv:2506.02475).
local attention = require "scripts.lib.attention"
local recurrence = require "scripts.lib.recurrence"

return {
  summary = "The gated delta rule whose correction is predicted before the decay, from a vector p of its own:"
    .. " S_t = exp(g_t) S_{t-1} + beta_t k_t (v_t - p_t S_{t-1})^T, y_t = scale * q_t S_t.",
  tags = { "linear attention", "sequence mixer" },
  params = {
    { "q", "float[batch, seq, heads, key_dim]" },
    { "k", "float[batch, seq, heads, key_dim]" },
    { "v", "float[batch, seq, heads, value_dim]" },
    { "p", "float[batch, seq, heads, key_dim]" },
    { "g", "float[batch, seq, heads]" },
    { "beta", "float[batch, seq, heads]" },
    { "softmax_scale", popcorn.null, values = { popcorn.null, 0.25 } },
  },
  returns = { "float[batch, seq, heads, value_dim]" },
  inputs = { k = recurrence.unit, p = recurrence.unit, g = recurrence.log_gate, beta = recurrence.gate },

  reference = function(q, k, v, p, g, beta, softmax_scale)
    local dtype, scale = q.dtype, attention.scale(softmax_scale, q.shape[4])
    q, k, v = attention.heads_first(q) * scale, attention.heads_first(k), attention.heads_first(v)
    local written = k * recurrence.column(beta)
    local decay, a = recurrence.column(g):exp(), attention.heads_first(p)
    return (recurrence.run(q, written, v, { decay = decay, a = a, b = -written, erase_undecayed = true }, dtype))
  end,

  bytes = attention.bytes({ "q", "k", "v", "p", "g", "beta" }, "v"),
  flops = function(c)
    local d = c.dims
    return recurrence.delta_flops(d.batch * d.heads, d.seq, d.key_dim, d.value_dim)
  end,
}
