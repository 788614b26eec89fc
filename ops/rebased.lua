-- Aksenov et al., "Linear Transformers with Learnable Kernel Functions are Better In-Context Models", 2024
-- (arXiv:2402.10644), without the learned affine map of q and k.
local attention = require "scripts.lib.attention"

return {
  summary = "Causal linear attention with squared scores: a_ij = (scale * q_i k_j)^2; y = sum_j a_ij v_j, divided by"
    .. " sum_j a_ij + eps with use_normalize.",
  tags = { "linear attention", "sequence mixer" },
  params = {
    { "q", "float[batch, seq, heads, key_dim]" },
    { "k", "float[batch, seq, heads, key_dim]" },
    { "v", "float[batch, seq, heads, value_dim]" },
    { "eps", 1e-5 },
    { "use_scale", true, values = { true, false } },
    { "use_normalize", true, values = { true, false } },
  },
  returns = { "float[batch, seq, heads, value_dim]" },

  reference = function(q, k, v, eps, use_scale, use_normalize)
    local dtype, scale = q.dtype, use_scale and q.shape[4] ^ -0.5 or 1
    q, k, v = attention.heads_first(q) * scale, attention.heads_first(k), attention.heads_first(v)
    local a = q:matmul(k.mT):square():tril()
    local y = a:matmul(v)
    if use_normalize then y = y / (a:sum(-1, true) + eps) end
    return attention.heads_last(y, dtype)
  end,

  bytes = attention.bytes({ "q", "k", "v" }, "v"),
  -- As a recurrence: one feature for each pair of key channels. The norm is one more value.
  flops = function(c)
    local d = c.dims
    local features = d.key_dim * (d.key_dim + 1) // 2
    local values = d.value_dim + (c.args.use_normalize and 1 or 0)
    return attention.linear_flops(d.batch * d.heads, d.seq, d.key_dim, values, features)
  end,
}
