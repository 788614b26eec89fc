-- Shazeer, "GLU Variants Improve Transformer", 2020 (arXiv:2002.05202), with its three linear layers.
local linear = require "scripts.lib.linear"

local scaled = linear.scaled_draw(1)

return {
  summary = "Gated feed-forward layer: (silu(x @ gate_weight.T) * (x @ up_weight.T)) @ down_weight.T.",
  tags = { "activation", "linear", "feature mixer", "fused" },
  params = {
    { "x", "float[..., hidden]" },
    { "gate_weight", "float[intermediate, hidden]" },
    { "up_weight", "float[intermediate, hidden]" },
    { "down_weight", "float[hidden, intermediate]" },
  },
  returns = { "float[..., hidden]" },
  inputs = { gate_weight = scaled, up_weight = scaled, down_weight = scaled },

  reference = function(x, gate_weight, up_weight, down_weight)
    local gate, up = linear.apply(x:upcast(), gate_weight), linear.apply(x:upcast(), up_weight)
    return linear.apply(gate:upcast():silu() * up:upcast(), down_weight)
  end,

  -- The hidden layer need not touch memory: backward may compute it again.
  bytes = function(c)
    local weights = c.bytes.gate_weight + c.bytes.up_weight + c.bytes.down_weight
    return 2 * c.bytes.x + weights, 3 * c.bytes.x + 2 * weights
  end,
  flops = function(c)
    local products, hidden = 6 * c.numel.x * c.dims.intermediate, c.numel.x // c.dims.hidden * c.dims.intermediate
    return products + 5 * hidden, 2 * products + 10 * hidden
  end,
}
