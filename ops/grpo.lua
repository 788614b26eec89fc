-- Shao et al., "DeepSeekMath: Pushing the Limits of Mathematical Reasoning in Open Language Models", 2024
-- (arXiv:2402.03300): on-policy, where the ratio to the sampling policy is 1 and only its gradient counts.
local policy = require "scripts.lib.policy_gradient"

return {
  summary = "Group relative policy optimization, loss per token: -(ratio * advantage - beta * kl), times the mask;"
    .. " ratio = p / p with only the upper p differentiated, kl = ref / p - log(ref / p) - 1.",
  tags = { "loss", "surrogate gradient" },
  params = {
    { "logits", "float[batch, response+1, vocab]" },
    { "ref_logp", "float[batch, response]" },
    { "input_ids", "int64[batch, response+1]", range = { 0, "vocab" } },
    { "advantages", "float[batch]" },
    { "completion_mask", "float[batch, response]", optional = true },
    { "beta", 0.1, values = { 0.1, 0.0 } },
  },
  returns = { "float32[batch, response]" },
  inputs = { ref_logp = policy.log_prob_draw, completion_mask = policy.mask_draw },
  no_grad = { "ref_logp", "advantages", "completion_mask" },

  reference = function(logits, ref_logp, input_ids, advantages, completion_mask, beta)
    local ids = input_ids:narrow(1, 1, input_ids.shape[2] - 1)
    local log_p = policy.token_log_probs(logits, ids, 1)
    local loss = -(log_p - log_p:detach()):exp() * advantages:upcast():unsqueeze(-1)
    if beta ~= 0 then loss = loss + policy.kl(log_p, ref_logp) * beta end
    return completion_mask and loss * completion_mask:upcast() or loss
  end,

  bytes = policy.bytes({ "ref_logp", "input_ids", "advantages", "completion_mask" }, 1),
  flops = policy.flops,
}
