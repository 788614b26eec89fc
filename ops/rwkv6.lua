-- Peng et al., "Eagle and Finch: RWKV with Matrix-Valued States and Dynamic Recurrence", COLM 2024 (arXiv:2404.05892).
local attention = require "scripts.lib.attention"
local recurrence = require "scripts.lib.recurrence"

return {
  summary = "RWKV-6: the state fades by a log decay per key channel, and the present token is read with a bonus u:"
    .. " y_t = scale * r_t (S_{t-1} + diag(u) k_t v_t^T), S_t = diag(exp(w_t)) S_{t-1} + k_t v_t^T.",
  tags = { "linear attention", "sequence mixer" },
  params = {
    { "r", "float[batch, seq, heads, key_dim]" },
    { "k", "float[batch, seq, heads, key_dim]" },
    { "v", "float[batch, seq, heads, value_dim]" },
    { "w", "float[batch, seq, heads, key_dim]" },
    { "u", "float[heads, key_dim]" },
    { "softmax_scale", popcorn.null, values = { popcorn.null, 0.25 } },
  },
  returns = { "float[batch, seq, heads, value_dim]" },
  inputs = { w = recurrence.log_gate },

  reference = function(r, k, v, w, u, softmax_scale)
    local dtype, scale = r.dtype, attention.scale(softmax_scale, r.shape[4])
    r, k, v = attention.heads_first(r) * scale, attention.heads_first(k), attention.heads_first(v)
    local past = tensor.linear_recurrence(r, k, v, { decay = attention.heads_first(w):exp(), read_first = true })
    local bonus = (r * u:upcast():unsqueeze(1) * k):sum(-1, true) * v
    return attention.heads_last(past + bonus, dtype)
  end,

  bytes = attention.bytes({ "r", "k", "v", "w", "u" }, "v"),
  flops = function(c)
    local d = c.dims
    return attention.linear_flops(d.batch * d.heads, d.seq, d.key_dim, d.value_dim)
  end,
}
