-- Agarwal et al., "On-Policy Distillation of Language Models", 2023 (arXiv:2306.13649).
local loss = require "scripts.lib.loss"

local function log_softmax(draw) return draw:log_softmax(-1) end

return {
  summary = "Generalized Jensen-Shannon divergence of a student's log-probabilities log_p from a teacher's log_q, mean"
    .. " over tokens: beta * KL(q || m) + (1 - beta) * KL(p || m), m = beta * q + (1 - beta) * p; KL(q || p) at beta 0,"
    .. " KL(p || q) at 1.",
  tags = { "loss" },
  params = {
    { "log_p", "float[tokens, vocab]" },
    { "log_q", "float[tokens, vocab]" },
    { "beta", 0.5, values = { 0.5, 0.0, 1.0 } },
  },
  returns = { "float32[]" },
  inputs = { log_p = log_softmax, log_q = log_softmax },
  no_grad = { "log_q" },
  domain = loss.jensen_shannon_domain,

  reference = function(log_p, log_q, beta) return loss.jensen_shannon(log_p:upcast(), log_q:upcast(), beta) end,

  bytes = function(c) return 2 * c.bytes.log_p, 3 * c.bytes.log_p end,
  flops = function(c) return 12 * c.numel.log_p, 8 * c.numel.log_p end,
}
