-- torch.logsumexp; Blanchard, Higham and Higham, "Accurately Computing the Log-Sum-Exp and Softmax Functions", 2019
-- (arXiv:1909.03469).
return {
  summary = "Logarithm of the sum of exponentials over the last dimension: log(sum(exp(scale * x))), scale 1 if not"
    .. " given.",
  tags = { "reduction" },
  params = {
    { "x", "float[batch, rows, hidden]" },
    { "scale", popcorn.null, values = { popcorn.null, 0.5 } },
  },
  returns = { "float32[batch, rows]" },

  reference = function(x, scale)
    local h = x:upcast()
    if scale then h = h * scale end
    return h:logsumexp(-1)
  end,

  -- One float32 number a row each way; backward reads x again.
  bytes = function(c)
    local out = 4 * c.dims.batch * c.dims.rows
    return c.bytes.x + out, 2 * c.bytes.x + 2 * out
  end,
  flops = function(c) return 4 * c.numel.x, 4 * c.numel.x end,
}
