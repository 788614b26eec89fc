-- Wall Attention (Tilde Research, github.com/tilde-research/wall-attention-release): the forget gate of Lin et al.,
-- "Forgetting Transformer", 2025 (arXiv:2503.02130), for each channel of the scores.
local attention = require "scripts.lib.attention"

local function log_gate(draw) return draw:logsigmoid() end

-- sum_d q_id k_jd exp(P_id - P_jd) for j <= i, P = cumsum(g) falling. Neither exp(P_i) nor exp(-P_j) alone stays in
-- range over a long sequence, so queries go in blocks: keys before a block are decayed up to its first query and
-- the queries from there on, both by at most 1; inside a block the difference is taken for each pair and channel.
local function decayed_scores(q, k, sum)
  local seq, dim = q.shape[3], q.shape[4]
  local block = math.max(16, seq // math.floor(4 * dim ^ 0.5))
  local rows = {}
  for start = 0, seq - 1, block do
    local length = math.min(block, seq - start)
    local function cut(x) return x:narrow(2, start, length) end
    local qb, kb, sb = cut(q), cut(k), cut(sum)
    local within = (sb:unsqueeze(3) - sb:unsqueeze(2)):minimum(0):exp()
    local parts = { (qb:unsqueeze(3) * kb:unsqueeze(2) * within):sum(-1) }
    if start > 0 then
      local first = sum:narrow(2, start, 1)
      local before = k:narrow(2, 0, start) * (first - sum:narrow(2, 0, start)):exp()
      table.insert(parts, 1, (qb * (sb - first):exp()):matmul(before.mT))
    end
    local done = start + length
    rows[#rows + 1] = tensor.cat(parts, -1):pad { 0, seq - done }
  end
  return tensor.cat(rows, 2)
end

return {
  summary = "Causal softmax attention with a log forget gate per channel of every score; optionally one more per head,"
    .. " a window, and a sink logit that takes weight from all keys.",
  tags = { "attention", "sequence mixer" },
  params = {
    { "q", "float[batch, seq, q_heads, head_dim]" },
    { "k", "float[batch, seq, kv_heads, head_dim]" },
    { "v", "float[batch, seq, kv_heads, head_dim]" },
    { "g", "float[batch, seq, q_heads, head_dim]" },
    { "g_scalar", "float[batch, seq, q_heads]", optional = true },
    { "sink_bias", "float[q_heads]", optional = true },
    { "softmax_scale", popcorn.null, values = { popcorn.null, 0.25 } },
    { "window_size", popcorn.null, values = { popcorn.null, 128 } },
  },
  returns = { "float[batch, seq, q_heads, head_dim]" },
  inputs = { g = log_gate, g_scalar = log_gate, sink_bias = function(draw) return draw * 0.1 end },

  domain = function(c)
    if c.args.window_size and c.args.window_size < 1 then return false, "window_size must be at least 1" end
    return attention.group_domain(c)
  end,

  reference = function(q, k, v, g, g_scalar, sink_bias, softmax_scale, window_size)
    local dtype, heads, seq, dim = q.dtype, q.shape[3], q.shape[2], q.shape[4]
    q = attention.heads_first(q) * attention.scale(softmax_scale, dim)
    k = attention.grouped(attention.heads_first(k), heads)
    v = attention.grouped(attention.heads_first(v), heads)
    local scores = decayed_scores(q, k, attention.heads_first(g):cumsum(2))
    if g_scalar then
      local sum = attention.heads_first(g_scalar):cumsum(-1)
      scores = scores + sum:unsqueeze(-1) - sum:unsqueeze(-2)
    end
    local distance = attention.distance(seq)
    local mask = distance:ge(0)
    if window_size then mask = mask:logical_and(distance:lt(window_size)) end
    scores = scores:masked_fill(mask:logical_not(), -math.huge)
    if sink_bias then
      -- The sink is one more key, whose value is zero.
      local sink = sink_bias:upcast():reshape(1, heads, 1, 1):expand(q.shape[1], heads, seq, 1)
      scores = tensor.cat({ scores, sink }, -1)
    end
    local p = scores:softmax(-1):narrow(-1, 0, seq)
    return attention.heads_last(p:matmul(v), dtype)
  end,

  bytes = attention.bytes({ "q", "k", "v", "g", "g_scalar", "sink_bias" }, "q"),
  -- The decay is folded into q and k by blocks, so that its work does not grow with the pairs.
  flops = function(c)
    local d = c.dims
    local window = math.min(c.args.window_size or d.seq, d.seq)
    local pairs = attention.pairs(window, true) + (d.seq - window) * window
    return attention.softmax_flops(d.batch * d.q_heads, pairs, d.head_dim, d.head_dim)
  end,
}
