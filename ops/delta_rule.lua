-- Yang et al., "Parallelizing Linear Transformers with the Delta Rule over Sequence Length", NeurIPS 2024
-- (arXiv:2406.06484).
local attention = require "scripts.lib.attention"
local recurrence = require "scripts.lib.recurrence"

return {
  summary = "Linear attention that replaces what a key holds instead of adding to it:"
    .. " S_t = S_{t-1} + beta_t k_t (v_t - k_t S_{t-1})^T, y_t = scale * q_t S_t.",
  tags = { "linear attention", "sequence mixer" },
  params = {
    { "q", "float[batch, seq, heads, key_dim]" },
    { "k", "float[batch, seq, heads, key_dim]" },
    { "v", "float[batch, seq, heads, value_dim]" },
    { "beta", "float[batch, seq, heads]" },
    { "softmax_scale", popcorn.null, values = { popcorn.null, 0.25 } },
  },
  returns = { "float[batch, seq, heads, value_dim]" },
  inputs = { k = recurrence.unit, beta = recurrence.gate },

  reference = function(q, k, v, beta, softmax_scale)
    local dtype, scale = q.dtype, attention.scale(softmax_scale, q.shape[4])
    q, k, v = attention.heads_first(q) * scale, attention.heads_first(k), attention.heads_first(v)
    local written = k * recurrence.column(beta)
    return (recurrence.run(q, written, v, { a = k, b = -written }, dtype))
  end,

  bytes = attention.bytes({ "q", "k", "v", "beta" }, "v"),
  flops = function(c)
    local d = c.dims
    return recurrence.delta_flops(d.batch * d.heads, d.seq, d.key_dim, d.value_dim)
  end,
}
