-- Peng et al., "RWKV-7 Goose with Expressive Dynamic State Evolution", 2025 (arXiv:2503.14456): the feed-forward layer.
local linear = require "scripts.lib.linear"

local scaled = linear.scaled_draw(0)

return {
  summary = "Feed-forward layer on token-shifted input: relu((x + (shift(x) - x) * x_k) @ key_weight)^2 @ value_weight;"
    .. " x_prev comes before the first token. Returns that and the last token.",
  tags = { "activation", "linear", "feature mixer", "fused" },
  params = {
    { "x", "float[batch, seq, hidden]" },
    { "x_prev", "float[batch, hidden]" },
    { "x_k", "float[hidden]" },
    { "key_weight", "float[hidden, intermediate]" },
    { "value_weight", "float[intermediate, hidden]" },
  },
  returns = { "float[batch, seq, hidden]", "float[batch, hidden]" },
  inputs = { x_k = function(draw) return draw:sigmoid() end, key_weight = scaled, value_weight = scaled },

  reference = function(x, x_prev, x_k, key_weight, value_weight)
    local h, last = x:upcast(), x.shape[2] - 1
    local shifted = tensor.cat({ x_prev:upcast():unsqueeze(1), h:narrow(1, 0, last) }, 1)
    local key = linear.apply(h + (shifted - h) * x_k:upcast(), key_weight.mT)
    return linear.apply(key:upcast():relu():square(), value_weight.mT), x:select(1, last)
  end,

  -- The hidden layer need not touch memory: backward may compute it again. Both outputs' gradients are read.
  bytes = function(c)
    local params = c.bytes.x_k + c.bytes.key_weight + c.bytes.value_weight
    return 2 * c.bytes.x + 2 * c.bytes.x_prev + params, 3 * c.bytes.x + 3 * c.bytes.x_prev + 2 * params
  end,
  flops = function(c)
    local products, hidden = 4 * c.numel.x * c.dims.intermediate, c.numel.x // c.dims.hidden * c.dims.intermediate
    return products + 2 * hidden + 3 * c.numel.x, 2 * products + 3 * hidden + 7 * c.numel.x
  end,
}
