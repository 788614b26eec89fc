-- What the losses of reinforcement learning on sampled tokens share. Position t of the logits predicts token t + 1, so
-- that the last position is not used.
local M = {}

-- log softmax(logits[:, :-1] / temperature) at the ids, [batch, response].
function M.token_log_probs(logits, ids, temperature)
  local response = ids.shape[2]
  local log_p = (logits:upcast():narrow(1, 0, response) / temperature):log_softmax(-1)
  return log_p:gather(-1, ids:unsqueeze(-1)):squeeze(-1)
end

-- An estimate of KL(policy || reference) from one sample, never negative: exp(d) - d - 1, d = ref - policy.
function M.kl(log_p, ref_logp)
  local d = ref_logp:upcast() - log_p
  return d:exp() - d - 1
end

function M.temperature_domain(c)
  if c.args.temperature <= 0 then return false, "temperature must be above 0" end
  return true
end

-- Draws: log-probabilities of a model of `vocab` tokens, and a mask of zeros and ones.
function M.log_prob_draw(draw, c) return -draw:abs() - math.log(c.dims.vocab) end

function M.mask_draw(draw) return draw:gt(0):to(draw.dtype) end

-- Forward reads the logits in use and the `others`, and writes `outputs` float32 numbers a token; backward reads the
-- logits and the loss's gradient (one number a token), and writes the gradient of all logits.
function M.bytes(others, outputs)
  return function(c)
    local d = c.dims
    local read = d.batch * d.response * d.vocab * c.itemsize
    for _, name in ipairs(others) do read = read + c.bytes[name] end
    local number = 4 * d.batch * d.response
    return read + outputs * number, read + number + c.bytes.logits
  end
end

-- Softmax over the vocabulary, 4 operations an element each way.
function M.flops(c)
  local work = 4 * c.dims.batch * c.dims.response * c.dims.vocab
  return work, work
end

return M
