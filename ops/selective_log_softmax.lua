-- Log-probabilities of the tokens that were sampled, as policy-gradient losses need them: Shao et al., "DeepSeekMath",
-- 2024 (arXiv:2402.03300).
local policy = require "scripts.lib.policy_gradient"

return {
  summary = "log softmax(logits[:, :-1] / temperature) at input_ids; 0 where mask is false.",
  tags = { "activation", "reduction", "lookup" },
  params = {
    { "logits", "float[batch, response+1, vocab]" },
    { "input_ids", "int64[batch, response]", range = { 0, "vocab" } },
    { "mask", "bool[batch, response]", optional = true },
    { "temperature", 0.9, values = { 0.9, 1.0 } },
  },
  returns = { "float32[batch, response]" },
  inputs = { mask = function(_, c, rng) return rng:bernoulli(0.5, c.shape.mask) end },
  domain = policy.temperature_domain,

  reference = function(logits, input_ids, mask, temperature)
    local log_p = policy.token_log_probs(logits, input_ids, temperature)
    return mask and log_p:masked_fill(mask:logical_not(), 0) or log_p
  end,

  bytes = policy.bytes({ "input_ids", "mask" }, 1),
  flops = policy.flops,
}
