-- So et al., "Primer: Searching for Efficient Transformers for Language Modeling", 2021 (arXiv:2109.08668).
return {
  summary = "Squared rectifier: max(x, 0)^2.",
  tags = { "activation" },
  params = {
    { "x", "float[..., hidden]" },
  },
  returns = { "float[..., hidden]" },

  reference = function(x) return x:upcast():relu():square():to(x.dtype) end,

  bytes = function(c) return 2 * c.bytes.x, 3 * c.bytes.x end,
  flops = function(c) return 2 * c.numel.x, 3 * c.numel.x end,

  impls = { popcorn = "sqrelu_cu" },
}
