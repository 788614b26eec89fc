-- Qin et al., "Hierarchically Gated Recurrent Neural Network for Sequence Modeling", NeurIPS 2023 (arXiv:2311.04823).
return {
  summary = "Elementwise gated recurrence with log forget gates: y_t = exp(g_t) y_{t-1} + x_t.",
  tags = { "linear attention", "sequence mixer" },
  params = {
    { "x", "float[batch, seq, hidden]" },
    { "g", "float[batch, seq, hidden]" },
  },
  returns = { "float[batch, seq, hidden]" },
  inputs = { g = function(draw) return draw:logsigmoid() end },

  -- A state of one column that is read whole.
  reference = function(x, g)
    local h = x:upcast()
    local ones = tensor.ones(x.shape[1], x.shape[2], 1, { dtype = h.dtype })
    local y = tensor.linear_recurrence(ones, h, ones, { decay = g:upcast():exp(), transposed = true })
    return y:to(x.dtype)
  end,

  bytes = function(c) return 3 * c.bytes.x, 5 * c.bytes.x end,
  -- An exponential, a product and a sum; backward has one more product for g's gradient, and a product with the gate.
  flops = function(c) return 3 * c.numel.x, 4 * c.numel.x end,
}
