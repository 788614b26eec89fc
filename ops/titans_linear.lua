-- Behrouz et al., "Titans: Learning to Memorize at Test Time", 2025 (arXiv:2501.00663), its linear memory, in chunks.
local attention = require "scripts.lib.attention"
local recurrence = require "scripts.lib.recurrence"

-- One chunk [batch, heads, tokens, dim]. Every token's gradient is taken at the memory as it was before the chunk, so
-- that memory m and momentum s after token t are sums over m, s and the tokens' k_j u_j^T, with the coefficients
-- `of_m` and `of_s` [.., tokens, 2 + tokens].
local function step(m, s, q, k, v, rate, of_m, of_s, w, b, eps)
  local normed, std = recurrence.standardize(k:matmul(m), eps)
  local g = (normed * w + b - (v - k)) * w
  -- The gradient of the layer norm up to scale; only its corrections are divided by the deviation.
  local dim = k.shape[4]
  g = g * dim - (g:sum(-1, true) + normed * (g * normed):sum(-1, true)) / (std * dim)
  local u, tokens = g * rate * -2, k.shape[3]
  local y = q:matmul(m) * of_m:narrow(-1, 0, 1) + q:matmul(s) * of_m:narrow(-1, 1, 1)
    + (q:matmul(k.mT) * of_m:narrow(-1, 2, tokens)):matmul(u)
  local function last(of)
    of = of:narrow(2, tokens - 1, 1)
    return m * of:narrow(-1, 0, 1) + s * of:narrow(-1, 1, 1) + (k * of:narrow(-1, 2, tokens).mT).mT:matmul(u)
  end
  return last(of_m), last(of_s), y
end

-- Coefficients of each chunk [.., tokens, 1]: s_t = eta_t s_{t-1} + k_t u_t^T and m_t = (1 - alpha_t) m_{t-1} + s_t, as
-- recurrences of rows whose columns stand for m, s and the tokens.
local function coefficients(alpha, eta)
  local lead = { table.unpack(eta.shape, 1, 3) }
  local size, options = eta.shape[4], { dtype = eta.dtype }
  local function start(column)
    local row = tensor.eye(2 + size, nil, options):narrow(0, column, 1)
    return row:expand(lead[1], lead[2], lead[3], 1, 2 + size)
  end
  local ones = tensor.ones_like(eta)
  local token = tensor.eye(size, nil, options):pad({ 2, 0 }):expand(lead[1], lead[2], lead[3], size, 2 + size)
  local of_s = tensor.linear_recurrence(ones, ones, token, { decay = eta, state = start(1) })
  local of_m = tensor.linear_recurrence(ones, ones, of_s, { decay = 1 - alpha, state = start(0) })
  return of_m, of_s
end

return {
  summary = "A matrix memory per head learns by gradient descent with momentum: s_t = eta_t s_{t-1} - 2 theta_t k_t g_t^T,"
    .. " m_t = (1 - alpha_t) m_{t-1} + s_t, g_t a gradient by k_t m of |LN(k_t m) - (v_t - k_t)|^2 at the memory before"
    .. " the chunk; o_t = q_t m_t, y_t = o_t + LN(o_t), LN with weight w and bias b.",
  tags = { "linear attention", "sequence mixer" },
  params = {
    { "q", "float[batch, seq, heads, head_dim]" },
    { "k", "float[batch, seq, heads, head_dim]" },
    { "v", "float[batch, seq, heads, head_dim]" },
    { "w", "float[heads, head_dim]" },
    { "b", "float[heads, head_dim]" },
    { "theta", "float[batch, seq, heads]" },
    { "alpha", "float[batch, seq, heads]" },
    { "eta", "float[batch, seq, heads]" },
    { "initial_state", "float[batch, heads, head_dim, head_dim]", optional = true },
    { "eps", 1e-6, values = { 1e-6 } },
    { "chunk_size", 16, values = { 16 } },
    { "output_final_state", false, values = { false, true } },
  },
  returns = function(c)
    local types = { "float[batch, seq, heads, head_dim]" }
    if c.args.output_final_state then types[2] = "float32[batch, heads, head_dim, head_dim]" end
    return types
  end,
  inputs = {
    q = recurrence.unit,
    k = recurrence.unit,
    w = function(draw) return draw * 0.1 + 1 end,
    b = function(draw) return draw * 0.1 end,
    theta = function(draw) return draw:sigmoid() * 0.1 end,
    alpha = function(draw) return draw:sigmoid() * 0.1 end,
    eta = function(draw) return draw:sigmoid() * 0.5 + 0.5 end,
    initial_state = function(draw) return draw * 0.1 end,
  },

  domain = function(c)
    if c.args.chunk_size < 1 then return false, "chunk_size must be at least 1" end
    return true
  end,

  reference = function(q, k, v, w, b, theta, alpha, eta, initial_state, eps, size, output_final_state)
    local dtype = q.dtype
    local batch, seq, heads, dim = table.unpack(q.shape)
    w, b = w:upcast():unsqueeze(1), b:upcast():unsqueeze(1)
    -- [batch, seq, heads, dim] -> [batch, heads, chunks, tokens, dim]; zeros after the end change no memory.
    local function chunks(x)
      return attention.heads_first(x):pad({ 0, 0, 0, -seq % size }):unflatten(2, { -1, size })
    end
    local of_m, of_s = coefficients(chunks(alpha:unsqueeze(-1)), chunks(eta:unsqueeze(-1)))
    local xs = { chunks(q), chunks(k), chunks(v), chunks(theta:unsqueeze(-1)), of_m, of_s }
    for i, x in ipairs(xs) do xs[i] = x:permute(2, 0, 1, 3, 4) end
    local nothing = tensor.zeros(batch, heads, dim, dim, { dtype = w.dtype })
    local start = { initial_state and initial_state:upcast() or nothing, nothing }
    local function run(m, s, q, k, v, rate, of_m, of_s, w, b) return step(m, s, q, k, v, rate, of_m, of_s, w, b, eps) end
    local m, _, y = tensor.scan(run, start, xs, { w, b })
    y = y:permute(1, 2, 0, 3, 4):flatten(2, 3):narrow(2, 0, seq)
    y = attention.heads_last(recurrence.add_layer_norm(y, w, b, eps), dtype)
    if output_final_state then return y, m end
    return y
  end,

  bytes = function(c)
    local read = c.bytes.q + c.bytes.k + c.bytes.v + c.bytes.w + c.bytes.b + c.bytes.theta + c.bytes.alpha + c.bytes.eta
      + c.bytes.initial_state
    local d = c.dims
    local state = c.args.output_final_state and 4 * d.batch * d.heads * d.head_dim ^ 2 or 0
    return read + c.bytes.v + state, 2 * read + c.bytes.v + state
  end,
  flops = function(c)
    local d = c.dims
    return recurrence.delta_flops(d.batch * d.heads, d.seq, d.head_dim, d.head_dim)
  end,
}
