-- Lin et al., "Forgetting Transformer: Softmax Attention with a Forget Gate", 2025 (arXiv:2503.02130).
local attention = require "scripts.lib.attention"

return {
  summary = "Causal softmax attention whose scores fade with the log forget gates between key and query:"
    .. " softmax(scale * q_i k_j + D_i - D_j) v, D = cumsum(g).",
  tags = { "attention", "sequence mixer" },
  params = {
    { "q", "float[batch, seq, q_heads, head_dim]" },
    { "k", "float[batch, seq, kv_heads, head_dim]" },
    { "v", "float[batch, seq, kv_heads, head_dim]" },
    { "g", "float[batch, seq, q_heads]" },
    { "softmax_scale", popcorn.null, values = { popcorn.null, 0.25 } },
  },
  returns = { "float[batch, seq, q_heads, head_dim]" },
  inputs = { g = function(draw) return draw:logsigmoid() end },
  domain = attention.group_domain,

  reference = function(q, k, v, g, softmax_scale)
    local dtype, heads, seq, dim = q.dtype, q.shape[3], q.shape[2], q.shape[4]
    q = attention.heads_first(q) * attention.scale(softmax_scale, dim)
    k, v = attention.heads_first(k), attention.heads_first(v)
    local sum = attention.heads_first(g):cumsum(-1)
    local scores = q:matmul(attention.grouped(k, heads).mT) + sum:unsqueeze(-1) - sum:unsqueeze(-2)
    local p = attention.softmax(scores, attention.distance(seq):ge(0))
    return attention.heads_last(p:matmul(attention.grouped(v, heads)), dtype)
  end,

  bytes = attention.bytes({ "q", "k", "v", "g" }, "q"),
  flops = function(c)
    local d = c.dims
    return attention.softmax_flops(d.batch * d.q_heads, attention.pairs(d.seq, true), d.head_dim, d.head_dim)
  end,
}
