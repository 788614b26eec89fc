-- Siems et al., "DeltaProduct: Improving State-Tracking in Linear RNNs via Householder Products", NeurIPS 2025
-- (arXiv:2502.10297), with the gate of Gated DeltaNet (arXiv:2412.06464).
local attention = require "scripts.lib.attention"
local recurrence = require "scripts.lib.recurrence"

return {
  summary = "Several delta-rule steps per token: the state fades by exp(g_t), then takes num_householder steps"
    .. " S += beta_j k_j (v_j - k_j S)^T, then y_t = scale * q_t S.",
  tags = { "linear attention", "sequence mixer" },
  params = {
    { "q", "float[batch, seq, heads, key_dim]" },
    { "k", "float[batch, seq*num_householder, heads, key_dim]" },
    { "v", "float[batch, seq*num_householder, heads, value_dim]" },
    { "g", "float[batch, seq, heads]" },
    { "beta", "float[batch, seq*num_householder, heads]" },
    { "num_householder", 2, values = { 2 } },
    { "softmax_scale", popcorn.null, values = { popcorn.null, 0.25 } },
  },
  returns = { "float[batch, seq, heads, value_dim]" },
  inputs = { k = recurrence.unit, g = recurrence.log_gate, beta = recurrence.gate },

  domain = function(c)
    if c.args.num_householder < 1 then return false, "num_householder must be at least 1" end
    return true
  end,

  -- One step of the recurrence per delta-rule step: the first of a token decays, and what the last reads is kept.
  reference = function(q, k, v, g, beta, num_householder, softmax_scale)
    local dtype, scale, steps = q.dtype, attention.scale(softmax_scale, q.shape[4]), num_householder
    q, k, v = attention.heads_first(q) * scale, attention.heads_first(k), attention.heads_first(v)
    local written, decay = k * recurrence.column(beta), recurrence.column(g):exp()
    if steps > 1 then decay = decay:pad({ 0, steps - 1 }, 1):flatten(2, 3):unsqueeze(-1) end
    local options = { decay = decay, a = k, b = -written }
    local y = tensor.linear_recurrence(q:repeat_interleave(steps, 2), written, v, options)
    return attention.heads_last(y:slice(2, steps - 1, nil, steps), dtype)
  end,

  bytes = function(c)
    local read, written = c.bytes.q + c.bytes.k + c.bytes.v + c.bytes.g + c.bytes.beta, c.bytes.v // c.args.num_householder
    return read + written, 2 * read + written
  end,
  flops = function(c)
    local d = c.dims
    return recurrence.delta_flops(d.batch * d.heads, d.seq, d.key_dim, d.value_dim, c.args.num_householder)
  end,
}
