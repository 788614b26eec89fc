-- Shazeer, "GLU Variants Improve Transformer", 2020 (arXiv:2002.05202), with the tanh form of GELU.
return {
  summary = "GELU-gated linear unit: gelu(a) * b, with the tanh approximation of gelu.",
  tags = { "activation", "feature mixer" },
  params = {
    { "a", "float[..., hidden]" },
    { "b", "float[..., hidden]" },
  },
  returns = { "float[..., hidden]" },

  reference = function(a, b) return (a:upcast():gelu({ approximate = "tanh" }) * b:upcast()):to(a.dtype) end,

  bytes = function(c) return 3 * c.bytes.a, 5 * c.bytes.a end,
  flops = function(c) return 9 * c.numel.a, 18 * c.numel.a end,

  impls = { popcorn = "geglu_cu" },
}
