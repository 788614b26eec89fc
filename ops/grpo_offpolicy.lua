-- Shao et al., "DeepSeekMath: Pushing the Limits of Mathematical Reasoning in Open Language Models", 2024
-- (arXiv:2402.03300), with the two clipping bounds of Yu et al., "DAPO", 2025 (arXiv:2503.14476).
local policy = require "scripts.lib.policy_gradient"

return {
  summary = "Group relative policy optimization on tokens of an older policy, loss per token: -min(r * a, clamp(r,"
    .. " 1 - eps_low, 1 + eps_high) * a) + beta * kl, times the mask; r = p / old, a the advantage. Returns it, kl (if"
    .. " beta is not 0), and 1 where the clamp decides; only the loss is differentiated.",
  tags = { "loss", "surrogate gradient" },
  params = {
    { "logits", "float[batch, response+1, vocab]" },
    { "old_logp", "float[batch, response]" },
    { "ref_logp", "float[batch, response]" },
    { "completion_ids", "int64[batch, response]", range = { 0, "vocab" } },
    { "advantages", "float[batch]" },
    { "completion_mask", "float[batch, response]", optional = true },
    { "temperature", 0.9 },
    { "beta", 0.04, values = { 0.04, 0.0 } },
    { "eps_low", 0.2 },
    { "eps_high", 0.4 },
  },
  returns = function(c)
    local each = "float32[batch, response]"
    return c.args.beta ~= 0 and { each, each, each } or { each, each }
  end,
  inputs = {
    old_logp = policy.log_prob_draw,
    ref_logp = policy.log_prob_draw,
    completion_mask = policy.mask_draw,
  },
  no_grad = { "old_logp", "ref_logp", "advantages", "completion_mask" },
  domain = policy.temperature_domain,

  reference = function(logits, old_logp, ref_logp, completion_ids, advantages, completion_mask, temperature, beta,
                       eps_low, eps_high)
    local log_p = policy.token_log_probs(logits, completion_ids, temperature)
    local ratio, advantage = (log_p - old_logp:upcast()):exp(), advantages:upcast():unsqueeze(-1)
    local low, high = 1 - eps_low, 1 + eps_high
    local loss = -(ratio * advantage):minimum(ratio:clamp(low, high) * advantage)
    local too_low = ratio:lt(low):logical_and(advantage:lt(0))
    local too_high = ratio:gt(high):logical_and(advantage:gt(0))
    local clipped = too_low:logical_or(too_high):to(loss.dtype)
    local kl
    if beta ~= 0 then
      kl = policy.kl(log_p, ref_logp)
      loss = loss + kl * beta
    end
    if completion_mask then
      local mask = completion_mask:upcast()
      loss, kl, clipped = loss * mask, kl and kl * mask, clipped * mask
    end
    if kl then return loss, kl:detach(), clipped end
    return loss, clipped
  end,

  bytes = policy.bytes({ "old_logp", "ref_logp", "completion_ids", "advantages", "completion_mask" }, 3),
  flops = policy.flops,
}
