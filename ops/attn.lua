-- Vaswani et al., "Attention Is All You Need", 2017 (arXiv:1706.03762); grouped key and value heads as in Ainslie et al.,
-- "GQA", 2023 (arXiv:2305.13245); torch.nn.functional.scaled_dot_product_attention with enable_gqa.
local attention = require "scripts.lib.attention"

return {
  summary = "Softmax attention, optionally causal: softmax(scale * q k^T) v; query heads may share key and value heads.",
  tags = { "attention", "sequence mixer" },
  params = {
    { "q", "float[batch, seq, q_heads, head_dim]" },
    { "k", "float[batch, seq, kv_heads, head_dim]" },
    { "v", "float[batch, seq, kv_heads, head_dim]" },
    { "causal", false, values = { false, true } },
    { "softmax_scale", popcorn.null, values = { popcorn.null, 0.25 } },
  },
  returns = { "float[batch, seq, q_heads, head_dim]" },
  domain = attention.group_domain,

  reference = function(q, k, v, causal, softmax_scale)
    local dtype, heads, seq, dim = q.dtype, q.shape[3], q.shape[2], q.shape[4]
    q = attention.heads_first(q) * attention.scale(softmax_scale, dim)
    k, v = attention.heads_first(k), attention.heads_first(v)
    local scores = q:matmul(attention.grouped(k, heads).mT)
    local p = causal and attention.softmax(scores, attention.distance(seq):ge(0)) or scores:softmax(-1)
    return attention.heads_last(p:matmul(attention.grouped(v, heads)), dtype)
  end,

  bytes = attention.bytes({ "q", "k", "v" }, "q"),
  flops = function(c)
    local d = c.dims
    return attention.softmax_flops(d.batch * d.q_heads, attention.pairs(d.seq, c.args.causal), d.head_dim, d.head_dim)
  end,
}
