-- Yang et al., "Parallelizing Linear Transformers with the Delta Rule over Sequence Length", NeurIPS 2024
-- (arXiv:2406.06484), with any rank-one matrix beside the identity.
local attention = require "scripts.lib.attention"
local recurrence = require "scripts.lib.recurrence"

return {
  summary = "Linear attention whose transition is the identity plus a rank-one matrix:"
    .. " S_t = (I + b_t a_t^T) S_{t-1} + k_t v_t^T, y_t = scale * q_t S_t; also returns the last state, in float32.",
  tags = { "linear attention", "sequence mixer" },
  params = {
    { "q", "float[batch, seq, heads, key_dim]" },
    { "k", "float[batch, seq, heads, key_dim]" },
    { "v", "float[batch, seq, heads, value_dim]" },
    { "a", "float[batch, seq, heads, key_dim]" },
    { "b", "float[batch, seq, heads, key_dim]" },
    { "initial_state", "float[batch, heads, key_dim, value_dim]" },
    { "softmax_scale", popcorn.null, values = { popcorn.null, 0.25 } },
  },
  returns = { "float[batch, seq, heads, value_dim]", "float32[batch, heads, key_dim, value_dim]" },
  -- b = -a, both the same direction at every token: a projection, so that the state stays bounded.
  inputs = {
    a = function(draw) return recurrence.unit(tensor.ones_like(draw)) end,
    b = function(draw) return -recurrence.unit(tensor.ones_like(draw)) end,
    initial_state = function(draw) return draw * 0.1 end,
  },

  reference = function(q, k, v, a, b, initial_state, softmax_scale)
    local dtype, scale = q.dtype, attention.scale(softmax_scale, q.shape[4])
    q, k, v = attention.heads_first(q) * scale, attention.heads_first(k), attention.heads_first(v)
    a, b = attention.heads_first(a), attention.heads_first(b)
    return recurrence.run(q, k, v, { a = a, b = b, state = initial_state:upcast() }, dtype)
  end,

  bytes = function(c)
    local read = c.bytes.q + c.bytes.k + c.bytes.v + c.bytes.a + c.bytes.b + c.bytes.initial_state
    local written = c.bytes.v + 4 * c.numel.initial_state
    return read + written, 2 * read + written
  end,
  flops = function(c)
    local d = c.dims
    return recurrence.delta_flops(d.batch * d.heads, d.seq, d.key_dim, d.value_dim)
  end,
}
