-- Peng et al., "ABC: Attention with Bounded-memory Control", ACL 2022 (arXiv:2110.02488).
local attention = require "scripts.lib.attention"
local recurrence = require "scripts.lib.recurrence"

return {
  summary = "Attention to a fixed number of slots, each a softmax-weighted mean of the keys and values so far:"
    .. " w_tj = exp(s_j) / sum_{i<=t} exp(s_i) per slot, K_t = sum_j w_tj k_j^T, V_t = sum_j w_tj v_j^T,"
    .. " y_t = softmax(scale * q_t K_t^T) V_t.",
  tags = { "linear attention", "sequence mixer" },
  params = {
    { "q", "float[batch, seq, heads, key_dim]" },
    { "k", "float[batch, seq, heads, key_dim]" },
    { "v", "float[batch, seq, heads, value_dim]" },
    { "s", "float[batch, seq, heads, slots]" },
    { "softmax_scale", popcorn.null, values = { popcorn.null, 0.25 } },
  },
  returns = { "float[batch, seq, heads, value_dim]" },

  reference = function(q, k, v, s, softmax_scale)
    local dtype, scale = q.dtype, attention.scale(softmax_scale, q.shape[4])
    q, k, v = attention.heads_first(q) * scale, attention.heads_first(k), attention.heads_first(v)
    s = attention.heads_first(s)
    local total = recurrence.running_logsumexp(s)
    -- The mean so far is the one before, faded by the share of the total that it had, and the new token by its own. The
    -- first mean fades from nothing: any factor will do.
    local earlier = tensor.cat({ total:narrow(2, 0, 1), total:narrow(2, 0, total.shape[3] - 1) }, 2)
    return attention.heads_last(recurrence.slots(q, k, v, (s - total):exp(), (earlier - total):exp()), dtype)
  end,

  bytes = attention.bytes({ "q", "k", "v", "s" }, "v"),
  flops = function(c)
    local d = c.dims
    return recurrence.slot_flops(d.batch * d.heads, d.seq, d.key_dim, d.value_dim, d.slots)
  end,
}
