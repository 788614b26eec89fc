-- Henry et al., "Query-Key Normalization for Transformers", 2020 (arXiv:2010.04245), as the linear attention kernels use
-- it: eps is added to the squared norm.
return {
  summary = "Scaling of the last dimension to unit length: x / sqrt(sum(x^2) + eps).",
  tags = { "normalization" },
  params = {
    { "x", "float[..., hidden]" },
    { "eps", 1e-6, values = { 1e-6, 1e-5 } },
  },
  returns = { "float[..., hidden]" },

  reference = function(x, eps)
    local h = x:upcast()
    return (h * (h:square():sum(-1, true) + eps):rsqrt()):to(x.dtype)
  end,

  bytes = function(c) return 2 * c.bytes.x, 3 * c.bytes.x end,
  flops = function(c) return 3 * c.numel.x, 7 * c.numel.x end,
}
