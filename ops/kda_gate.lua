-- Kimi Team, "Kimi Linear: An Expressive, Efficient Attention Architecture", 2025 (arXiv:2510.26692): the log decay of
-- Kimi Delta Attention, one per channel. It stays in float32, since a recurrence sums it over the sequence.
return {
  summary = "Log decay gate: -exp(A_log) * softplus(g + dt_bias), or with a lower bound"
    .. " lower_bound * sigmoid(exp(A_log) * (g + dt_bias)).",
  tags = { "activation", "fused" },
  params = {
    { "g", "float[batch, seq, heads, key_dim]" },
    { "A_log", "float[heads]" },
    { "dt_bias", "float[gate_dim]", optional = true },
    { "lower_bound", popcorn.null, values = { popcorn.null, -5.0 } },
  },
  returns = { "float32[batch, seq, heads, key_dim]" },
  inputs = {
    g = function(draw) return draw * 2 end,
    -- Rates exp(A_log) = 1 + softplus(x) start at 1.
    A_log = function(draw) return draw:softplus():log1p() end,
    dt_bias = function(draw) return draw * 0.1 end,
  },

  domain = function(c)
    local d = c.dims
    if d.gate_dim ~= d.heads * d.key_dim then return false, "gate_dim must be heads * key_dim" end
    return true
  end,

  reference = function(g, A_log, dt_bias, lower_bound)
    local h = g:upcast()
    if dt_bias then h = h + dt_bias:upcast():reshape(g.shape[3], g.shape[4]) end
    local rate = A_log:upcast():exp():unsqueeze(-1)
    if lower_bound then return (rate * h):sigmoid() * lower_bound end
    return -rate * h:softplus()
  end,

  -- The output and its gradient are float32.
  bytes = function(c)
    local read, out = c.bytes.g + c.bytes.A_log + c.bytes.dt_bias, 4 * c.numel.g
    return read + out, 2 * read + out
  end,
  flops = function(c) return 6 * c.numel.g, 10 * c.numel.g end,
}
