-- Katharopoulos et al., "Transformers are RNNs: Fast Autoregressive Transformers with Linear Attention", ICML 2020
-- (arXiv:2006.16236). The feature map is the caller's: draws come mapped, and so stay positive.
local attention = require "scripts.lib.attention"

local function feature_map(draw) return draw:elu() + 1 end

return {
  summary = "Causal linear attention: y_i = scale * sum_{j<=i} (q_i k_j) v_j, divided by scale * sum_{j<=i} q_i k_j"
    .. " + 1e-10 with normalize.",
  tags = { "linear attention", "sequence mixer" },
  params = {
    { "q", "float[batch, seq, heads, key_dim]" },
    { "k", "float[batch, seq, heads, key_dim]" },
    { "v", "float[batch, seq, heads, value_dim]" },
    { "normalize", true, values = { true, false } },
    { "softmax_scale", popcorn.null, values = { popcorn.null, 0.25 } },
  },
  returns = { "float[batch, seq, heads, value_dim]" },
  inputs = { q = feature_map, k = feature_map },

  reference = function(q, k, v, normalize, softmax_scale)
    local dtype, scale = q.dtype, attention.scale(softmax_scale, q.shape[4])
    q, k, v = attention.heads_first(q) * scale, attention.heads_first(k), attention.heads_first(v)
    local a = q:matmul(k.mT):tril()
    local y = a:matmul(v)
    if normalize then y = y / (a:sum(-1, true) + 1e-10) end
    return attention.heads_last(y, dtype)
  end,

  bytes = attention.bytes({ "q", "k", "v" }, "v"),
  -- The norm is one more value.
  flops = function(c)
    local d = c.dims
    local values = d.value_dim + (c.args.normalize and 1 or 0)
    return attention.linear_flops(d.batch * d.heads, d.seq, d.key_dim, values)
  end,
}
