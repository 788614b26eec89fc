-- Peng et al., "RWKV: Reinventing RNNs for the Transformer Era", 2023 (arXiv:2305.13048): the difference that
-- token-shift mixes are made of.
return {
  summary = "Previous token less this one: y[t] = x[t - 1] - x[t], zeros before the first.",
  tags = { "activation" },
  params = {
    { "x", "float[batch, seq, hidden]" },
  },
  returns = { "float[batch, seq, hidden]" },

  reference = function(x)
    local h = x:upcast()
    return (h:narrow(1, 0, x.shape[2] - 1):pad { 0, 0, 1, 0 } - h):to(x.dtype)
  end,

  -- Linear: backward reads dy only.
  bytes = function(c) return 2 * c.bytes.x, 2 * c.bytes.x end,
  flops = function(c) return c.numel.x, c.numel.x end,
}
