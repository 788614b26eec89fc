-- Peng et al., "RWKV-7 Goose with Expressive Dynamic State Evolution", 2025 (arXiv:2503.14456): token-shift mixes for
-- the receptance, decay, key, value, in-context learning rate and, if asked for, output gate. `delta` is the previous
-- token less this one.
local mixes = { "xr", "xw", "xk", "xv", "xa", "xg" }

local params = {
  { "hidden_states", "float[batch, seq, hidden]" },
  { "delta", "float[batch, seq, hidden]" },
}
for _, name in ipairs(mixes) do
  params[#params + 1] = { name, "float[1, 1, hidden]", optional = name == "xg" or nil }
end

local function count(c) return c.present.xg and 6 or 5 end

local function mix_bytes(c)
  local sum = 0
  for _, name in ipairs(mixes) do sum = sum + c.bytes[name] end
  return sum
end

return {
  summary = "Five or six interpolations between a token and the one before it: hidden_states + delta * x for x = xr, xw,"
    .. " xk, xv, xa and xg, each an output.",
  tags = { "activation", "fused" },
  params = params,
  returns = function(c)
    local types = {}
    for i = 1, count(c) do types[i] = "float[batch, seq, hidden]" end
    return types
  end,

  reference = function(hidden_states, delta, xr, xw, xk, xv, xa, xg)
    local h, d = hidden_states:upcast(), delta:upcast()
    local function mix(x) return (h + d * x:upcast()):to(hidden_states.dtype) end
    if xg then return mix(xr), mix(xw), mix(xk), mix(xv), mix(xa), mix(xg) end
    return mix(xr), mix(xw), mix(xk), mix(xv), mix(xa)
  end,

  -- Backward reads delta and the gradients of all outputs, and writes two gradients and those of the mixes.
  bytes = function(c)
    local n, x, m = count(c), c.bytes.delta, mix_bytes(c)
    return (2 + n) * x + m, (3 + n) * x + 2 * m
  end,
  flops = function(c) return 2 * count(c) * c.numel.delta, 5 * count(c) * c.numel.delta end,
}
