-- flash-linear-attention's chunk_local_cumsum (github.com/fla-org/flash-linear-attention): the log decays within a
-- chunk; Yang et al., 2023 (arXiv:2312.06635).
local cumsum = require("scripts.lib.cumsum").cumsum

return {
  summary = "Inclusive running sum that restarts at every chunk, from either end of it:"
    .. " y_t = scale * sum of g from t's chunk start to t. The sequence is `second` when head_first, else `first`.",
  tags = { "reduction" },
  params = {
    { "g", "float[batch, first, second, width]" },
    { "chunk_size", 4 },
    { "reverse", false, values = { false, true } },
    { "scale", popcorn.null, values = { popcorn.null, 0.5 } },
    { "head_first", false, values = { false, true } },
  },
  returns = { "float[batch, first, second, width]" },

  domain = function(c)
    if c.args.chunk_size < 1 then return false, "chunk_size must be at least 1" end
    return true
  end,

  reference = function(g, chunk_size, reverse, scale, head_first)
    local options = { chunk_size = chunk_size, reverse = reverse, scale = scale }
    return cumsum(g:upcast(), head_first and 2 or 1, options):to(g.dtype)
  end,

  -- Backward is the same sum of the output's gradient, from the other end.
  bytes = function(c) return 2 * c.bytes.g, 2 * c.bytes.g end,
  flops = function(c)
    local pass = c.numel.g * (c.args.scale and 2 or 1)
    return pass, pass
  end,
}
