-- Agarwal et al., "On-Policy Distillation of Language Models", 2023 (arXiv:2306.13649), on the logits of linear layers,
-- which need not be stored.
local loss = require "scripts.lib.loss"

return {
  summary = "Generalized Jensen-Shannon divergence (see jsd) of a student from a teacher, each softmax(h @ weight.T"
    .. " / temperature), mean over tokens.",
  tags = { "loss", "linear", "fused" },
  params = {
    { "student", "float[tokens, hidden]" },
    { "teacher", "float[tokens, teacher_hidden]" },
    { "student_weight", "float[vocab, hidden]" },
    { "teacher_weight", "float[vocab, teacher_hidden]" },
    { "beta", 0.5 },
    { "temperature", 1.0, values = { 1.0, 2.0 } },
  },
  returns = { "float32[]" },
  no_grad = { "teacher", "teacher_weight" },

  domain = function(c)
    if c.args.temperature <= 0 then return false, "temperature must be above 0" end
    return loss.jensen_shannon_domain(c)
  end,

  reference = function(student, teacher, student_weight, teacher_weight, beta, temperature)
    local log_student = (loss.logits(student, student_weight) / temperature):log_softmax(-1)
    local log_teacher = (loss.logits(teacher, teacher_weight) / temperature):log_softmax(-1)
    return loss.jensen_shannon(log_student, log_teacher, beta)
  end,

  bytes = loss.linear_bytes({ "student", "student_weight" }, { "teacher", "teacher_weight" }),
  flops = loss.linear_flops("hidden", "teacher_hidden", 16),
}
