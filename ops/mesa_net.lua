-- von Oswald et al., "MesaNet: Sequence Modeling by Locally Optimal Test-Time Training", 2025 (arXiv:2506.05233).
local attention = require "scripts.lib.attention"
local recurrence = require "scripts.lib.recurrence"

-- x with a x = r for symmetric positive definite a [.., n, n] and r [.., n, m], by elimination of one half of the
-- unknowns before the other, and so on within the halves.
local function solve(a, r)
  local n, m = a.shape[a.ndim], r.shape[r.ndim]
  if n == 1 then return r / a end
  local half = n // 2
  local top, bottom = a:narrow(-2, 0, half), a:narrow(-2, half, n - half)
  local side = bottom:narrow(-1, 0, half)
  local known = solve(top:narrow(-1, 0, half), tensor.cat({ top:narrow(-1, half, n - half), r:narrow(-2, 0, half) }, -1))
  local left = tensor.cat({ bottom:narrow(-1, half, n - half), r:narrow(-2, half, n - half) }, -1) - side:matmul(known)
  local below = solve(left:narrow(-1, 0, n - half), left:narrow(-1, n - half, m))
  local above = known:narrow(-1, n - half, m) - known:narrow(-1, 0, n - half):matmul(below)
  return tensor.cat({ above, below }, -2)
end

return {
  summary = "Linear attention whose query is first solved against the keys so far, so that each token reads the"
    .. " ridge regression of values on keys: H_t = exp(g_t) H_{t-1} + beta_t k_t k_t^T,"
    .. " S_t = exp(g_t) S_{t-1} + beta_t k_t v_t^T, y_t = q_t (H_t + diag(lamb))^-1 S_t.",
  tags = { "linear attention", "sequence mixer" },
  params = {
    { "q", "float[batch, seq, heads, key_dim]" },
    { "k", "float[batch, seq, heads, key_dim]" },
    { "v", "float[batch, seq, heads, key_dim]" },
    { "g", "float[batch, seq, heads]" },
    { "beta", "float[batch, seq, heads]" },
    { "lamb", "float[heads, key_dim]" },
  },
  returns = { "float[batch, seq, heads, key_dim]" },
  inputs = {
    g = recurrence.log_gate,
    beta = recurrence.gate,
    lamb = function(draw) return draw:softplus() end,
  },

  reference = function(q, k, v, g, beta, lamb)
    local dtype, dim = q.dtype, q.shape[4]
    q, k, v = attention.heads_first(q), attention.heads_first(k), attention.heads_first(v)
    local written, decay = k * recurrence.column(beta), recurrence.column(g):exp()
    -- Every token's H, as a recurrence of one row.
    local products = (written:unsqueeze(-1) * k:unsqueeze(-2)):flatten(3, 4)
    local one = tensor.ones_like(decay)
    local h = tensor.linear_recurrence(one, one, products, { decay = decay }):unflatten(3, { dim, dim })
    local ridge = lamb:upcast():diag_embed():unsqueeze(1)
    local solved = solve(h + ridge, q:unsqueeze(-1)):squeeze(-1)
    return (recurrence.run(solved, written, v, { decay = decay }, dtype))
  end,

  bytes = attention.bytes({ "q", "k", "v", "g", "beta", "lamb" }, "v"),
  -- Token by token, an outer product for each state and a product of the solved query; the solve is not counted, as
  -- kernels are free to approximate it.
  flops = function(c)
    local d = c.dims
    return recurrence.delta_flops(d.batch * d.heads, d.seq, d.key_dim, d.key_dim)
  end,
}
