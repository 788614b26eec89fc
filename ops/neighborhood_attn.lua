-- Hassani et al., "Neighborhood Attention Transformer", CVPR 2023 (arXiv:2204.07143), in one dimension. A window that
-- reaches over an end of the sequence is cut off there, not shifted.
local attention = require "scripts.lib.attention"

-- Query-key pairs of one head: every offset m * dilation with |m| <= kernel_size // 2 that stays in the sequence.
local function window_pairs(seq, kernel_size, dilation)
  local count = 0
  for m = -(kernel_size // 2), kernel_size // 2 do count = count + math.max(seq - math.abs(m) * dilation, 0) end
  return count
end

return {
  summary = "Softmax attention to the kernel_size nearest keys, `dilation` apart, on both sides of each query.",
  tags = { "attention", "sequence mixer" },
  params = {
    { "q", "float[batch, heads, seq, head_dim]" },
    { "k", "float[batch, heads, seq, head_dim]" },
    { "v", "float[batch, heads, seq, head_dim]" },
    { "kernel_size", 7, values = { 7, 3 } },
    { "dilation", 1, values = { 1, 2 } },
    { "softmax_scale", popcorn.null, values = { popcorn.null, 0.25 } },
  },
  returns = { "float[batch, heads, seq, head_dim]" },

  domain = function(c)
    if c.args.kernel_size % 2 ~= 1 then return false, "kernel_size must be odd" end
    if c.args.dilation < 1 then return false, "dilation must be at least 1" end
    return true
  end,

  reference = function(q, k, v, kernel_size, dilation, softmax_scale)
    local dtype, seq = q.dtype, q.shape[3]
    local scores = (q:upcast() * attention.scale(softmax_scale, q.shape[4])):matmul(k:upcast().mT)
    local distance = attention.distance(seq)
    local near = distance:abs():le(kernel_size // 2 * dilation):logical_and((distance % dilation):eq(0))
    return attention.softmax(scores, near):matmul(v:upcast()):to(dtype)
  end,

  bytes = attention.bytes({ "q", "k", "v" }, "q"),
  flops = function(c)
    local d = c.dims
    local pairs = window_pairs(d.seq, c.args.kernel_size, c.args.dilation)
    return attention.softmax_flops(d.batch * d.heads, pairs, d.head_dim, d.head_dim)
  end,
}
