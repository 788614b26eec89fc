-- Shazeer, "GLU Variants Improve Transformer", 2020 (arXiv:2002.05202), without the linear layers.
return {
  summary = "SiLU-gated linear unit: silu(a) * b.",
  tags = { "activation", "feature mixer" },
  params = {
    { "a", "float[..., hidden]" },
    { "b", "float[..., hidden]" },
  },
  returns = { "float[..., hidden]" },

  reference = function(a, b) return (a:upcast():silu() * b:upcast()):to(a.dtype) end,

  bytes = function(c) return 3 * c.bytes.a, 5 * c.bytes.a end,
  flops = function(c) return 5 * c.numel.a, 10 * c.numel.a end,

  impls = { popcorn = "swiglu_cu" },
}
