-- Qin et al., "Various Lengths, Constant Speed: Efficient Language Modeling with Lightning Attention", 2024
-- (arXiv:2405.17381).
local attention = require "scripts.lib.attention"

return {
  summary = "Causal linear attention whose heads forget at fixed rates, slower in deeper layers:"
    .. " y_i = scale * sum_{j<=i} exp(-r_h (i - j)) (q_i k_j) v_j, r_h = 8 h / heads * (1 - layer_idx / num_layers).",
  tags = { "linear attention", "sequence mixer" },
  params = {
    { "q", "float[batch, seq, heads, key_dim]" },
    { "k", "float[batch, seq, heads, key_dim]" },
    { "v", "float[batch, seq, heads, value_dim]" },
    { "layer_idx", 0, values = { 0, 1 } },
    { "num_layers", 2 },
    { "softmax_scale", popcorn.null, values = { popcorn.null, 0.25 } },
  },
  returns = { "float[batch, seq, heads, value_dim]" },

  domain = function(c)
    local layer, layers = c.args.layer_idx, c.args.num_layers
    if layer < 0 or layer >= layers then return false, "layer_idx must be in 0 .. num_layers - 1" end
    return true
  end,

  reference = function(q, k, v, layer_idx, num_layers, softmax_scale)
    local dtype, heads, scale = q.dtype, q.shape[3], attention.scale(softmax_scale, q.shape[4])
    q, k, v = attention.heads_first(q) * scale, attention.heads_first(k), attention.heads_first(v)
    local rate = tensor.arange(heads, nil, nil, { dtype = q.dtype }) * (8 / heads * (1 - layer_idx / num_layers))
    return attention.heads_last((q:matmul(k.mT) * attention.fixed_decay(rate, q.shape[3])):matmul(v), dtype)
  end,

  bytes = attention.bytes({ "q", "k", "v" }, "v"),
  flops = function(c)
    local d = c.dims
    return attention.linear_flops(d.batch * d.heads, d.seq, d.key_dim, d.value_dim)
  end,
}
