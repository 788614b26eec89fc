-- Fino and Algazi, "Unified Matrix Treatment of the Fast Walsh-Hadamard Transform", 1976; in language models as in
-- Ashkboos et al., "QuaRot", 2024 (arXiv:2404.00456). Rows of the matrix are in natural (Sylvester) order.
local function is_power_of_two(n) return n > 0 and n & (n - 1) == 0 end

return {
  summary = "Walsh-Hadamard transform of the last dimension: scale * (x @ H), H[i, j] = (-1)^popcount(i & j).",
  tags = { "linear" },
  params = {
    { "x", "float[..., hadamard_dim]" },
    { "scale", 1.0, values = { 1.0, 0.5 } },
  },
  returns = { "float[..., hadamard_dim]" },

  domain = function(c)
    if not is_power_of_two(c.dims.hadamard_dim) then return false, "hadamard_dim must be a power of two" end
    return true
  end,

  -- log2(n) passes of sums and differences of elements that are `step` apart.
  reference = function(x, scale)
    local h, n, step = x:upcast():reshape(-1, x.shape[x.ndim]), x.shape[x.ndim], 1
    while step < n do
      local a, b = h:reshape(-1, n // (2 * step), 2, step):unbind(2)
      h = tensor.stack({ a + b, a - b }, 2):reshape(-1, n)
      step = 2 * step
    end
    return (h * scale):reshape(x.shape):to(x.dtype)
  end,

  -- Its own adjoint: backward is the transform of dy.
  bytes = function(c) return 2 * c.bytes.x, 2 * c.bytes.x end,
  flops = function(c)
    local work = c.numel.x * (math.log(c.dims.hadamard_dim, 2) + 1)
    return work, work
  end,
}
