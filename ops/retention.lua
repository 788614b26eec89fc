-- Sun et al., "Retentive Network: A Successor to Transformer for Large Language Models", 2023 (arXiv:2307.08621).
local attention = require "scripts.lib.attention"

return {
  summary = "Causal linear attention with one fixed decay per head:"
    .. " y_i = scale * sum_{j<=i} gamma_h^(i - j) (q_i k_j) v_j, gamma_h = 1 - 2^(-5 - h).",
  tags = { "linear attention", "sequence mixer" },
  params = {
    { "q", "float[batch, seq, heads, key_dim]" },
    { "k", "float[batch, seq, heads, key_dim]" },
    { "v", "float[batch, seq, heads, value_dim]" },
    { "softmax_scale", popcorn.null, values = { popcorn.null, 0.25 } },
  },
  returns = { "float[batch, seq, heads, value_dim]" },

  reference = function(q, k, v, softmax_scale)
    local dtype, heads, scale = q.dtype, q.shape[3], attention.scale(softmax_scale, q.shape[4])
    q, k, v = attention.heads_first(q) * scale, attention.heads_first(k), attention.heads_first(v)
    local gamma = 1 - (-5 - tensor.arange(heads, nil, nil, { dtype = q.dtype })):exp2()
    return attention.heads_last((q:matmul(k.mT) * attention.fixed_decay(-gamma:log(), q.shape[3])):matmul(v), dtype)
  end,

  bytes = attention.bytes({ "q", "k", "v" }, "v"),
  flops = function(c)
    local d = c.dims
    return attention.linear_flops(d.batch * d.heads, d.seq, d.key_dim, d.value_dim)
  end,
}
