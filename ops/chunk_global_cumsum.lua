-- flash-linear-attention's chunk_global_cumsum (github.com/fla-org/flash-linear-attention), as its gated ops use it;
-- Yang et al., 2023 (arXiv:2312.06635).
local cumsum = require("scripts.lib.cumsum").cumsum

return {
  summary = "Inclusive running sum over the sequence, from either end: y_t = scale * sum_{u<=t} s_u."
    .. " The sequence is `second` when head_first, else `first`.",
  tags = { "reduction" },
  params = {
    { "s", "float[batch, first, second, width]" },
    { "reverse", false, values = { false, true } },
    { "scale", popcorn.null, values = { popcorn.null, 0.5 } },
    { "head_first", false, values = { false, true } },
  },
  returns = { "float[batch, first, second, width]" },

  reference = function(s, reverse, scale, head_first)
    return cumsum(s:upcast(), head_first and 2 or 1, { reverse = reverse, scale = scale }):to(s.dtype)
  end,

  -- Backward is the same sum of the output's gradient, from the other end.
  bytes = function(c) return 2 * c.bytes.s, 2 * c.bytes.s end,
  flops = function(c)
    local pass = c.numel.s * (c.args.scale and 2 or 1)
    return pass, pass
  end,
}
