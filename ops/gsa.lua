-- Zhang et al., "Gated Slot Attention for Efficient Linear-Time Sequence Modeling", NeurIPS 2024 (arXiv:2409.07146).
local attention = require "scripts.lib.attention"
local recurrence = require "scripts.lib.recurrence"

return {
  summary = "Attention to a fixed number of slots that forget by log gates:"
    .. " K_t = diag(exp(g_t)) K_{t-1} + s_t k_t^T, V_t = diag(exp(g_t)) V_{t-1} + s_t v_t^T,"
    .. " y_t = softmax(scale * q_t K_t^T) V_t; query heads share key and value heads in groups.",
  tags = { "linear attention", "sequence mixer" },
  params = {
    { "q", "float[batch, seq, q_heads, key_dim]" },
    { "k", "float[batch, seq, kv_heads, key_dim]" },
    { "v", "float[batch, seq, kv_heads, value_dim]" },
    { "s", "float[batch, seq, kv_heads, slots]" },
    { "g", "float[batch, seq, kv_heads, slots]" },
    { "softmax_scale", popcorn.null, values = { popcorn.null, 0.25 } },
  },
  returns = { "float[batch, seq, q_heads, value_dim]" },
  inputs = { g = recurrence.log_gate },
  domain = attention.group_domain,

  reference = function(q, k, v, s, g, softmax_scale)
    local dtype, scale, heads = q.dtype, attention.scale(softmax_scale, q.shape[4]), q.shape[3]
    local function shared(x) return attention.grouped(attention.heads_first(x), heads) end
    q = attention.heads_first(q) * scale
    return attention.heads_last(recurrence.slots(q, shared(k), shared(v), shared(s), shared(g):exp()), dtype)
  end,

  bytes = function(c)
    local read = c.bytes.q + c.bytes.k + c.bytes.v + c.bytes.s + c.bytes.g
    local written = c.bytes.q // c.dims.key_dim * c.dims.value_dim
    return read + written, 2 * read + written
  end,
  -- The heads of a group share their slots.
  flops = function(c)
    local d = c.dims
    return recurrence.slot_flops(d.batch * d.kv_heads, d.seq, d.key_dim, d.value_dim, d.slots)
  end,
}
