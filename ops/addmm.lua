-- torch.addmm.
return {
  summary = "Matrix product added to a matrix: beta * x + alpha * (a @ b).",
  tags = { "linear", "fused" },
  params = {
    { "x", "float[rows, cols]" },
    { "a", "float[rows, inner]" },
    { "b", "float[inner, cols]" },
    { "alpha", 1.0, values = { 1.0, 0.5 } },
    { "beta", 1.0, values = { 1.0, 0.25 } },
  },
  returns = { "float[rows, cols]" },

  reference = function(x, a, b, alpha, beta)
    return x:upcast():addmm(a:upcast(), b:upcast(), { alpha = alpha, beta = beta }):to(x.dtype)
  end,

  -- Backward does not read x.
  bytes = function(c)
    local operands = c.bytes.a + c.bytes.b
    return operands + 2 * c.bytes.x, 2 * operands + 2 * c.bytes.x
  end,
  flops = function(c)
    local product = 2 * c.numel.x * c.dims.inner
    return product + 2 * c.numel.x, 2 * product + c.numel.x
  end,
}
