-- Zhang and Sennrich, "Root Mean Square Layer Normalization", NeurIPS 2019 (arXiv:1910.07467); torch.nn.RMSNorm.
return {
  summary = "Root-mean-square normalization over the last dimension: y = x / sqrt(mean(x^2) + eps) * weight + bias.",
  tags = { "normalization" },
  params = {
    { "x", "float[..., normalized_shape]" },
    { "weight", "float[normalized_shape]" },
    { "bias", "float[normalized_shape]", optional = true },
    { "eps", 1e-6, values = { 1e-6, 1e-5 } },
  },
  returns = { "float[..., normalized_shape]" },

  reference = function(x, weight, bias, eps)
    local h = x:upcast()
    local y = h * (h:square():mean(-1, true) + eps):rsqrt() * weight:upcast()
    if bias then y = y + bias:upcast() end
    return y:to(x.dtype)
  end,

  -- Forward reads x and writes y; backward reads x and dy and writes dx. Parameters pass once each way.
  bytes = function(c)
    local affine = c.bytes.weight + c.bytes.bias
    return 2 * c.bytes.x + affine, 3 * c.bytes.x + c.bytes.weight + affine
  end,
  flops = function(c) return 4 * c.numel.x, 10 * c.numel.x end,

  impls = { popcorn = "rms_norm_cu" },
}
