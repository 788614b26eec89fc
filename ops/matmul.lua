-- torch.matmul of two matrices with an optional pointwise epilogue.
return {
  summary = "Matrix product with an activation: act(a @ b).",
  tags = { "linear", "fused" },
  params = {
    { "a", "float[rows, inner]" },
    { "b", "float[inner, cols]" },
    { "activation", "", values = { "", "leaky_relu", "relu", "sigmoid", "tanh" } },
  },
  returns = { "float[rows, cols]" },

  reference = function(a, b, activation)
    local y = a:upcast():matmul(b:upcast())
    if activation == "leaky_relu" then
      y = y:leaky_relu(0.01)
    elseif activation ~= "" then
      y = y[activation](y)
    end
    return y:to(a.dtype)
  end,

  bytes = function(c)
    local operands = c.bytes.a + c.bytes.b
    local out = c.dims.rows * c.dims.cols * c.itemsize
    return operands + out, 2 * operands + out
  end,
  flops = function(c)
    local forward = 2 * c.dims.rows * c.dims.inner * c.dims.cols
    return forward, 2 * forward
  end,

  impls = { popcorn = "matmul_cu" },
}
