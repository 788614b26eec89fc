-- What it takes to evaluate an op's truth: the reference and its gradients in float64, with every intermediate kept for
-- the backward pass. An estimate from dims and tags, on the safe side by a small factor; the sampler drops cases above a
-- device's limits, so that the default sample of an op runs in good time wherever it is drawn.
local M = {}

-- Intermediates of the size of an input, of a score matrix, and of a recurrence's state at each token.
local PER_ELEMENT, PER_PAIR, PER_STATE = 12, 12, 8

local function has_tag(op, tag)
  for _, own in ipairs(op.tags) do
    if own == tag then return true end
  end
  return false
end

local function get(dims, ...)
  for _, name in ipairs { ... } do
    if dims[name] then return dims[name] end
  end
  return nil
end

-- `elements`: of all intermediates. `steps`: of a loop over tokens, each a dozen small operations.
function M.truth(op, case, size)
  -- A case's tables raise on names they do not have.
  local dims = {}
  for name, extent in pairs(case.dims) do dims[name] = extent end
  local elements, steps = PER_ELEMENT * size.total, 0

  local seq = get(dims, "seq", "total")
  if seq and (has_tag(op, "sequence mixer") or has_tag(op, "attention")) then
    local rows = (dims.batch or 1) * (get(dims, "q_heads", "heads", "channels") or 1)
    -- References are written over all pairs of tokens, or as a loop that carries a state.
    local key = get(dims, "key_dim", "head_dim")
    local softmax = has_tag(op, "attention")
    if key or softmax then elements = elements + PER_PAIR * rows * seq * (get(dims, "blocks") or seq) end
    if key and not softmax then
      local value = dims.value_dim or key
      elements = elements + PER_STATE * rows * seq * key * (value + (dims.slots or 0))
    end
    if not softmax then steps = seq end
  end

  -- Logits of a linear layer that only the loss sees, and the hidden layers of all experts.
  if dims.vocab and dims.tokens then elements = elements + PER_ELEMENT * dims.tokens * dims.vocab end
  if dims.experts and dims.intermediate then
    local tokens = (dims.batch or 1) * (get(dims, "seq", "tokens") or 1)
    elements = elements + PER_ELEMENT * tokens * dims.experts * dims.intermediate
  end
  return { elements = elements, steps = steps }
end

return M
