-- What the attention ops share: the softmax scale, masks, grouped heads, and how much work their products are.
--
-- References compute in the layout [batch, heads, seq, dim], where scores are one matrix product; `heads_first` and
-- `heads_last` go from [batch, seq, heads, dim] and back.
local M = {}

-- The factor of the scores: as given, or 1 / sqrt(dim).
function M.scale(given, dim) return given or dim ^ -0.5 end

function M.heads_first(x) return x:upcast():transpose(1, 2) end

function M.heads_last(y, dtype) return y:transpose(1, 2):to(dtype) end

-- Key and value heads repeated for the query heads that share them (grouped-query attention; heads are dim 1).
function M.grouped(x, q_heads)
  local groups = q_heads // x.shape[2]
  return groups == 1 and x or x:repeat_interleave(groups, 1)
end

-- [seq, seq] of i - j, query position less key position.
function M.distance(seq)
  local at = tensor.arange(seq)
  return at:unsqueeze(1) - at:unsqueeze(0)
end

-- Softmax of the scores where `mask` is true; rows without any key give zeros.
function M.softmax(scores, mask)
  return scores:masked_fill(mask:logical_not(), -math.huge):softmax(-1)
end

-- exp(D_i - D_j) for j <= i and 0 elsewhere, D the running sum of a log gate [batch, heads, seq]. The exponent is
-- masked first, so that pairs ahead of their query cannot overflow.
function M.decay(log_gate)
  local sum = log_gate:cumsum(-1)
  return (sum:unsqueeze(-1) - sum:unsqueeze(-2)):tril():exp():tril()
end

-- exp(-rate_h (i - j)) for j <= i and 0 elsewhere, for one rate per head.
function M.fixed_decay(rate, seq)
  local steps = M.distance(seq):to(rate.dtype)
  return (steps * -rate:reshape(-1, 1, 1)):tril():exp():tril()
end

-- Query and key pairs of a sequence.
function M.pairs(seq, causal) return causal and seq * (seq + 1) // 2 or seq * seq end

-- Grouped-query heads must divide evenly.
function M.group_domain(c)
  if c.dims.q_heads % c.dims.kv_heads ~= 0 then return false, "kv_heads must divide q_heads" end
  return true
end

-- Traffic of an op with one output as large as tensor `like` whose inputs all get gradients: each input is read once
-- and the output written; backward reads the inputs and the output's gradient, and writes one gradient per input.
function M.bytes(inputs, like)
  return function(c)
    local read = 0
    for _, name in ipairs(inputs) do read = read + c.bytes[name] end
    return read + c.bytes[like], 2 * read + c.bytes[like]
  end
end

-- Softmax attention over `pairs` query-key pairs per head: the products q k^T and p v, 5 operations a pair for the
-- softmax; backward has the four products dv, dp, dq, dk, and 5 operations a pair.
function M.softmax_flops(heads, pairs, key_dim, value_dim)
  local products, pointwise = 2 * heads * pairs * (key_dim + value_dim), 5 * heads * pairs
  return products + pointwise, 2 * products + pointwise
end

-- Linear attention may go over all pairs, as the references do, or carry a state of key_dim x value_dim from token to
-- token: 2 operations an element to add k v^T, 2 to read it by q. The floor is the lesser of the two; backward has
-- twice the products of forward. `features` is the width of the keys' feature map where it is not key_dim.
function M.linear_flops(heads, seq, key_dim, value_dim, features)
  local over_pairs = M.pairs(seq, true) * (2 * (key_dim + value_dim) + 1)
  local by_state = seq * 4 * (features or key_dim) * value_dim
  local forward = heads * math.min(over_pairs, by_state)
  return forward, 2 * forward
end

return M
