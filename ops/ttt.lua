-- Sun et al., "Learning to (Learn at Test Time): RNNs with Expressive Hidden States", 2024 (arXiv:2407.04620), its linear
-- model with layer norm, in mini-batches.
local attention = require "scripts.lib.attention"
local recurrence = require "scripts.lib.recurrence"

-- One mini-batch [batch, heads, tokens, dim]: every token's gradient is taken at the model (h, bias) as it was before the
-- mini-batch; token i reads a model that went against those of tokens j <= i, at its own rate.
local function step(h, bias, q, k, v, rate, w, b, eps)
  local normed, std = recurrence.standardize(k:matmul(h) + bias, eps)
  local g = (normed * w + b - (v - k)) * w
  -- Back through the layer norm.
  g = (g - g:mean(-1, true) - normed * (g * normed):mean(-1, true)) / std
  local mixed = (q:matmul(k.mT) + 1):tril() * rate
  local y = q:matmul(h) + bias - mixed:matmul(g)
  local last = rate:narrow(2, rate.shape[3] - 1, 1)
  return h - (k * last).mT:matmul(g), bias - (g * last):sum(2, true), y
end

-- [batch, seq, heads, dim] -> [mini-batches, batch, heads, tokens, dim].
local function batches(x, size)
  return attention.heads_first(x):unflatten(2, { -1, size }):permute(2, 0, 1, 3, 4)
end

return {
  summary = "A linear model per head is trained on the sequence: its loss at a token is |LN(k_t W + c) - (v_t - k_t)|^2 / 2,"
    .. " one gradient step of rate eta per mini-batch; o_t = q_t W + c, y_t = o_t + LN(o_t), LN with weight w and bias b,"
    .. " q scaled by 1 / sqrt(head_dim).",
  tags = { "linear attention", "sequence mixer" },
  params = {
    { "q", "float[batch, seq, heads, head_dim]" },
    { "k", "float[batch, seq, heads, head_dim]" },
    { "v", "float[batch, seq, heads, head_dim]" },
    { "w", "float[heads, head_dim]" },
    { "b", "float[heads, head_dim]" },
    { "eta", "float[batch, seq, heads]" },
    { "eps", 1e-6, values = { 1e-6 } },
    { "mini_batch_size", 16, values = { 16 } },
  },
  returns = { "float[batch, seq, heads, head_dim]" },
  -- Small steps keep the model near where it began. At first the deviation is sqrt(eps), so that eta's gradient reaches
  -- 1e6; it is proportional to w, which is drawn smaller where float16 ends at 65504.
  inputs = {
    w = function(draw, case) return (draw * 0.1 + 1) / (case.dtype == "float16" and 32 or 1) end,
    b = function(draw) return draw * 0.1 end,
    eta = function(draw) return draw:sigmoid() * 0.02 end,
  },

  domain = function(c)
    local size = c.args.mini_batch_size
    if size < 1 or c.dims.seq % size ~= 0 then return false, "mini_batch_size must divide seq" end
    return true
  end,

  reference = function(q, k, v, w, b, eta, eps, size)
    local dtype, scale = q.dtype, q.shape[4] ^ -0.5
    local batch, seq, heads, dim = table.unpack(q.shape)
    w, b = w:upcast():unsqueeze(1), b:upcast():unsqueeze(1)
    local start = { tensor.zeros(batch, heads, dim, dim, { dtype = w.dtype }), tensor.zeros(batch, heads, 1, dim, { dtype = w.dtype }) }
    local xs = { batches(q, size) * scale, batches(k, size), batches(v, size), batches(eta:unsqueeze(-1), size) }
    local function run(h, bias, q, k, v, rate, w, b) return step(h, bias, q, k, v, rate, w, b, eps) end
    local _, _, y = tensor.scan(run, start, xs, { w, b })
    y = y:permute(1, 2, 0, 3, 4):flatten(2, 3)
    return attention.heads_last(recurrence.add_layer_norm(y, w, b, eps), dtype)
  end,

  bytes = attention.bytes({ "q", "k", "v", "w", "b", "eta" }, "v"),
  flops = function(c)
    local d = c.dims
    return recurrence.delta_flops(d.batch * d.heads, d.seq, d.head_dim, d.head_dim)
  end,
}
