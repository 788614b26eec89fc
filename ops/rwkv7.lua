-- Peng et al., "RWKV-7 Goose with Expressive Dynamic State Evolution", 2025 (arXiv:2503.14456).
local attention = require "scripts.lib.attention"
local recurrence = require "scripts.lib.recurrence"

return {
  summary = "RWKV-7: a state whose transition is a diagonal decay plus a rank-one matrix:"
    .. " S_t = (diag(exp(w_t)) + b_t a_t^T) S_{t-1} + k_t v_t^T, y_t = scale * r_t S_t.",
  tags = { "linear attention", "sequence mixer" },
  params = {
    { "r", "float[batch, seq, heads, key_dim]" },
    { "w", "float[batch, seq, heads, key_dim]" },
    { "k", "float[batch, seq, heads, key_dim]" },
    { "v", "float[batch, seq, heads, value_dim]" },
    { "a", "float[batch, seq, heads, key_dim]" },
    { "b", "float[batch, seq, heads, key_dim]" },
    { "softmax_scale", 1.0, values = { 1.0, 0.25 } },
  },
  returns = { "float[batch, seq, heads, value_dim]" },
  -- Together, a and b shrink the state along directions of length 1, by less than the whole of it.
  inputs = {
    w = recurrence.log_gate,
    a = function(draw) return -recurrence.unit(draw) end,
    b = function(draw) return recurrence.unit(draw) * 0.5 end,
  },

  reference = function(r, w, k, v, a, b, softmax_scale)
    local dtype = r.dtype
    r, k, v = attention.heads_first(r) * softmax_scale, attention.heads_first(k), attention.heads_first(v)
    a, b = attention.heads_first(a), attention.heads_first(b)
    local options = { decay = attention.heads_first(w):exp(), a = a, b = b, erase_undecayed = true }
    return (recurrence.run(r, k, v, options, dtype))
  end,

  bytes = attention.bytes({ "r", "w", "k", "v", "a", "b" }, "v"),
  flops = function(c)
    local d = c.dims
    return recurrence.delta_flops(d.batch * d.heads, d.seq, d.key_dim, d.value_dim)
  end,
}
