-- Oja, "Simplified Neuron Model as a Principal Component Analyzer", Journal of Mathematical Biology 15, 1982, as a gated
-- layer: the delta rule with the roles of keys and values exchanged.
local attention = require "scripts.lib.attention"
local recurrence = require "scripts.lib.recurrence"

return {
  summary = "Linear attention that stores only the part of a key that its value does not yet recall:"
    .. " D_t = S_{t-1} diag(exp(gv_t)), S_t = D_t + beta_t (k_t - D_t v_t) v_t^T, y_t = scale * q_t S_t.",
  tags = { "linear attention", "sequence mixer" },
  params = {
    { "q", "float[batch, seq, heads, key_dim]" },
    { "k", "float[batch, seq, heads, key_dim]" },
    { "v", "float[batch, seq, heads, value_dim]" },
    { "gv", "float[batch, seq, heads, value_dim]" },
    { "beta", "float[batch, seq, heads]" },
    { "softmax_scale", popcorn.null, values = { popcorn.null, 0.25 } },
  },
  returns = { "float[batch, seq, heads, value_dim]" },
  inputs = { k = recurrence.unit, v = recurrence.unit, gv = recurrence.log_gate, beta = recurrence.gate },

  -- The transposed state decays and corrects along its rows, as that of the delta rule does.
  reference = function(q, k, v, gv, beta, softmax_scale)
    local dtype, scale = q.dtype, attention.scale(softmax_scale, q.shape[4])
    q, k, v = attention.heads_first(q) * scale, attention.heads_first(k), attention.heads_first(v)
    local written = v * recurrence.column(beta)
    local options = { decay = attention.heads_first(gv):exp(), a = v, b = -written, transposed = true }
    return (recurrence.run(q, written, k, options, dtype))
  end,

  bytes = attention.bytes({ "q", "k", "v", "gv", "beta" }, "v"),
  flops = function(c)
    local d = c.dims
    return recurrence.delta_flops(d.batch * d.heads, d.seq, d.value_dim, d.key_dim)
  end,
}
