-- Guo et al., "Log-Linear Attention", 2025 (arXiv:2506.04761).
--
-- The tokens before i fall into blocks of 1, 2, 4, … tokens as i's binary digits say (a Fenwick tree): i itself is level
-- 0, and level l is the block of 2^(l-1) tokens that ends where the low l - 1 bits of i start, if bit l - 1 of i is set.
local attention = require "scripts.lib.attention"

local function levels_of(seq)
  local levels = 1
  while 1 << (levels - 1) < seq do levels = levels + 1 end
  return levels
end

return {
  summary = "Gated linear attention with a learned scale for each level of a binary hierarchy of past tokens:"
    .. " y_i = sum_{j<=i} scale_{i, level(i,j)} exp(D_i - D_j) (q_i k_j) v_j, D = cumsum(g).",
  tags = { "linear attention", "sequence mixer" },
  params = {
    { "q", "float[batch, seq, heads, key_dim]" },
    { "k", "float[batch, seq, heads, key_dim]" },
    { "v", "float[batch, seq, heads, value_dim]" },
    { "g", "float[batch, seq, heads]" },
    { "level_scales", "float[batch, seq, heads, levels]" },
  },
  returns = { "float[batch, seq, heads, value_dim]" },
  inputs = {
    g = function(draw) return draw:logsigmoid() end,
    level_scales = function(draw) return draw:sigmoid() end,
  },

  domain = function(c)
    local levels = levels_of(c.dims.seq)
    if c.dims.levels ~= levels then return false, ("levels must be ceil(log2(seq)) + 1 = %d"):format(levels) end
    return true
  end,

  reference = function(q, k, v, g, level_scales)
    local dtype, seq, levels = q.dtype, q.shape[2], level_scales.shape[4]
    q, k, v = attention.heads_first(q), attention.heads_first(k), attention.heads_first(v)
    local scales = attention.heads_first(level_scales)
    local i = tensor.arange(seq):unsqueeze(1)
    local j = tensor.arange(seq):unsqueeze(0)
    local level = tensor.zeros({ seq, seq }, { dtype = "int64" })
    for l = 1, levels - 1 do
      local size = 1 << (l - 1)
      local stop = i - i % size
      local inside = (i // size % 2):eq(1):logical_and(j:ge(stop - size)):logical_and(j:lt(stop))
      level = level:masked_fill(inside, l)
    end
    local scale = scales:gather(-1, level:expand { q.shape[1], q.shape[2], seq, seq })
    local weights = q:matmul(k.mT) * scale * attention.decay(attention.heads_first(g))
    return attention.heads_last(weights:matmul(v), dtype)
  end,

  bytes = attention.bytes({ "q", "k", "v", "g", "level_scales" }, "v"),
  -- No less than plain linear attention: keeping the levels apart only adds to it.
  flops = function(c)
    local d = c.dims
    return attention.linear_flops(d.batch * d.heads, d.seq, d.key_dim, d.value_dim)
  end,
}
