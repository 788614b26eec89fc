-- torch.nn.functional.logsigmoid over a temperature, the log forget gate of gated linear attention: Yang et al., 2023
-- (arXiv:2312.06635).
return {
  summary = "Log-sigmoid over a temperature: log(sigmoid(x)) / temperature, without overflow at either end.",
  tags = { "activation" },
  params = {
    { "x", "float[..., hidden]" },
    { "temperature", 1.0, values = { 1.0, 2.0 } },
  },
  returns = { "float[..., hidden]" },

  domain = function(c)
    if c.args.temperature == 0 then return false, "temperature must not be 0" end
    return true
  end,

  reference = function(x, temperature) return (x:upcast():logsigmoid() / temperature):to(x.dtype) end,

  bytes = function(c) return 2 * c.bytes.x, 3 * c.bytes.x end,
  flops = function(c) return 5 * c.numel.x, 5 * c.numel.x end,
}
