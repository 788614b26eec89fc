-- Kimi Team, "Kimi Linear: An Expressive, Efficient Attention Architecture", 2025 (arXiv:2510.26692): the gate of Kimi
-- Delta Attention and its running sum within chunks, in one pass.
local cumsum = require("scripts.lib.cumsum").cumsum

local function tenth(draw) return draw * 0.1 end

return {
  summary = "Log decay gate and its running sum within chunks: -exp(A_log) * softplus(g + dt_bias), or with a lower bound"
    .. " lower_bound * sigmoid(exp(A_log) * (g + dt_bias)).",
  tags = { "activation", "reduction", "fused" },
  params = {
    { "g", "float[batch, seq, heads, width]" },
    { "A_log", "float[heads]" },
    { "dt_bias", "float[heads, width]", optional = true },
    { "chunk_size", 4 },
    { "scale", popcorn.null, values = { popcorn.null, 0.5 } },
    { "lower_bound", popcorn.null, values = { popcorn.null, -5.0 } },
  },
  returns = { "float[batch, seq, heads, width]" },
  inputs = { A_log = tenth, dt_bias = tenth },

  domain = function(c)
    if c.args.chunk_size < 1 then return false, "chunk_size must be at least 1" end
    return true
  end,

  reference = function(g, A_log, dt_bias, chunk_size, scale, lower_bound)
    local h = g:upcast()
    if dt_bias then h = h + dt_bias:upcast() end
    local rate = A_log:upcast():exp():unsqueeze(-1)
    local gate = lower_bound and (rate * h):sigmoid() * lower_bound or -rate * h:softplus()
    return cumsum(gate, 1, { chunk_size = chunk_size, scale = scale }):to(g.dtype)
  end,

  -- Backward reads all inputs and dy and writes all gradients.
  bytes = function(c)
    local params = c.bytes.A_log + c.bytes.dt_bias
    return 2 * c.bytes.g + params, 3 * c.bytes.g + 2 * params
  end,
  -- Bias, gate (three functions and two products), sum; backward once more, its derivative, and two reductions.
  flops = function(c) return 7 * c.numel.g, 12 * c.numel.g end,
}
