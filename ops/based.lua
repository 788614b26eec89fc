-- Arora et al., "Simple linear attention language models balance the recall-throughput tradeoff", 2024
-- (arXiv:2402.18668).
local attention = require "scripts.lib.attention"

return {
  summary = "Causal linear attention with the second-order Taylor polynomial of exp as its kernel:"
    .. " a_ij = 1 + s + s^2 / 2 at s = scale * q_i k_j; y = sum_j a_ij v_j, divided by sum_j a_ij + 1e-6 with use_norm.",
  tags = { "linear attention", "sequence mixer" },
  params = {
    { "q", "float[batch, seq, heads, key_dim]" },
    { "k", "float[batch, seq, heads, key_dim]" },
    { "v", "float[batch, seq, heads, value_dim]" },
    { "use_norm", true, values = { true, false } },
    { "softmax_scale", popcorn.null, values = { popcorn.null, 0.25 } },
  },
  returns = { "float[batch, seq, heads, value_dim]" },

  reference = function(q, k, v, use_norm, softmax_scale)
    local dtype, scale = q.dtype, attention.scale(softmax_scale, q.shape[4])
    q, k, v = attention.heads_first(q) * scale, attention.heads_first(k), attention.heads_first(v)
    local s = q:matmul(k.mT)
    local a = (1 + s + s:square() * 0.5):tril()
    local y = a:matmul(v)
    if use_norm then y = y / (a:sum(-1, true) + 1e-6) end
    return attention.heads_last(y, dtype)
  end,

  bytes = attention.bytes({ "q", "k", "v" }, "v"),
  -- As a recurrence: one feature for 1, key_dim for s, and one for each pair of key channels. The norm is one more value.
  flops = function(c)
    local d = c.dims
    local features = 1 + d.key_dim + d.key_dim * (d.key_dim + 1) // 2
    local values = d.value_dim + (c.args.use_norm and 1 or 0)
    return attention.linear_flops(d.batch * d.heads, d.seq, d.key_dim, values, features)
  end,
}
