-- What the recurrent ops share: draws, and the layout and cost of a state that is carried from token to token. Each is a
-- case of `tensor.linear_recurrence`, which costs one node of the tape whatever the length.
local attention = require "scripts.lib.attention"

local M = {}

-- Rows of length 1.
function M.unit(draw) return draw / draw:norm(2, -1, true):clamp(1e-12) end

function M.log_gate(draw) return draw:logsigmoid() end

function M.gate(draw) return draw:sigmoid() end

-- [batch, seq, heads] -> [batch, heads, seq, 1].
function M.column(x) return attention.heads_first(x):unsqueeze(-1) end

-- Operands in the layout [batch, heads, seq, dim]; the output back in [batch, seq, heads, dim] and at `dtype`, and the
-- last state.
function M.run(q, k, v, options, dtype)
  local y, state = tensor.linear_recurrence(q, k, v, options)
  return attention.heads_last(y, dtype), state
end

-- (x - mean) / deviation over the last dim, and the deviation.
function M.standardize(x, eps)
  local centered = x - x:mean(-1, true)
  local std = (centered:square():mean(-1, true) + eps):sqrt()
  return centered / std, std
end

-- x + LayerNorm(x) with weight w and bias b.
function M.add_layer_norm(x, w, b, eps)
  return x + M.standardize(x, eps) * w + b
end

-- Over pairs of tokens, the delta rule takes the products q k^T and k k^T, and solves for the corrected values before
-- they are summed; token by token, it reads the state by k and by q, and adds one product. The lesser of the two;
-- backward has twice the products of forward. `steps`: delta-rule steps per token, 1 if left out.
function M.delta_flops(heads, seq, key_dim, value_dim, steps)
  steps = steps or 1
  local pairs = attention.pairs(steps * seq, true) + steps * attention.pairs(seq, true)
  local over_pairs = pairs * 2 * (key_dim + value_dim)
  local by_state = seq * (4 * steps + 2) * key_dim * value_dim
  local forward = heads * math.min(over_pairs, by_state)
  return forward, 2 * forward
end

-- log(sum_{i<=t} exp(x_i)) along the dim before the last.
function M.running_logsumexp(x)
  local function step(total, now)
    local next = total:logaddexp(now)
    return next, next
  end
  local _, totals = tensor.scan(step, { tensor.full_like(x:select(2, 0), -math.huge) }, { x:permute(2, 0, 1, 3) })
  return totals:permute(1, 2, 0, 3)
end

-- Softmax attention to slots of keys and values, K_t = diag(decay_t) K_{t-1} + weight_t k_t^T and V_t likewise.
function M.slots(q, k, v, weight, decay)
  local scores = tensor.linear_recurrence(q, weight, k, { decay = decay, transposed = true })
  return (tensor.linear_recurrence(scores:softmax(-1), weight, v, { decay = decay }))
end

-- Two recurrences and a softmax over the slots between them.
function M.slot_flops(heads, seq, key_dim, value_dim, slots)
  local keys = attention.linear_flops(heads, seq, key_dim, slots)
  local forward = keys + attention.linear_flops(heads, seq, slots, value_dim) + 5 * heads * seq * slots
  return forward, 2 * forward
end

return M
