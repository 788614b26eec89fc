-- Peng et al., "RWKV: Reinventing RNNs for the Transformer Era", EMNLP 2023 (arXiv:2305.13048).
local function step(num, den, top, k, v, log_decay, u)
  -- Numerator and denominator are kept over exp(top), so that no exponential overflows.
  local bonus = u + k
  local m = top:maximum(bonus)
  local past, now = (top - m):exp(), (bonus - m):exp()
  local y = (past * num + now * v) / (past * den + now)
  local faded = top + log_decay
  m = faded:maximum(k)
  past, now = (faded - m):exp(), (k - m):exp()
  return past * num + now * v, past * den + now, m, y
end

return {
  summary = "RWKV-4: a mean of the values weighted by exp(k), with decay rate exp(w) per channel and a bonus u for the present:"
    .. " y_t = (sum_{j<t} exp(k_j - (t-1-j) exp(w)) v_j + exp(u + k_t) v_t) / (the same without v)."
    .. " The state is the numerator and the denominator over exp(m), and m.",
  tags = { "linear attention", "sequence mixer" },
  params = {
    { "w", "float[channels]" },
    { "u", "float[channels]" },
    { "k", "float[batch, seq, channels]" },
    { "v", "float[batch, seq, channels]" },
    { "state", "float[batch, 3, 1, channels]" },
  },
  returns = { "float[batch, seq, channels]", "float[batch, 3, 1, channels]" },
  -- The denominator is positive.
  inputs = {
    state = function(draw)
      local num, den, top = draw:unbind(1)
      return tensor.stack({ num, den:softplus(), top }, 1)
    end,
  },

  reference = function(w, u, k, v, state)
    local dtype = k.dtype
    local num, den, top = state:upcast():squeeze(2):unbind(1)
    local xs = { k:upcast():transpose(0, 1), v:upcast():transpose(0, 1) }
    local y
    num, den, top, y = tensor.scan(step, { num, den, top }, xs, { -w:upcast():exp(), u:upcast() })
    return y:transpose(0, 1):to(dtype), tensor.stack({ num, den, top }, 1):unsqueeze(2):to(dtype)
  end,

  bytes = function(c)
    local weights, sequence, state = c.bytes.w + c.bytes.u, c.bytes.k, c.bytes.state
    return weights + 3 * sequence + 2 * state, 2 * weights + 5 * sequence + 3 * state
  end,
  -- Per element: 4 exponentials, 2 maxima, 6 sums and differences of exponents, 6 products, 4 sums and a quotient.
  flops = function(c) return 23 * c.numel.k, 46 * c.numel.k end,
}
