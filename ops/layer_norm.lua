-- Ba, Kiros and Hinton, "Layer Normalization", 2016 (arXiv:1607.06450); torch.nn.functional.layer_norm.
return {
  summary = "Layer normalization over the last dimension: y = (x - mean) / sqrt(var + eps) * weight + bias, population variance.",
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
    local d = h - h:mean(-1, true)
    local y = d * (d:square():mean(-1, true) + eps):rsqrt() * weight:upcast()
    if bias then y = y + bias:upcast() end
    return y:to(x.dtype)
  end,

  bytes = function(c)
    local affine = c.bytes.weight + c.bytes.bias
    return 2 * c.bytes.x + affine, 3 * c.bytes.x + c.bytes.weight + affine
  end,
  flops = function(c) return 7 * c.numel.x, 14 * c.numel.x end,

  impls = { popcorn = "layer_norm_cu" },
}
