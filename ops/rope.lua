-- Su et al., "RoFormer", 2021 (arXiv:2104.09864), in the layout that pairs element i with element i + head_dim/2.
local function angle(fn)
  -- Both halves hold the same angles.
  return function(draw, c)
    local half = draw:narrow(-1, 0, c.dims.head_dim // 2)
    half = half[fn](half)
    return tensor.cat({ half, half }, -1)
  end
end

return {
  summary = "Rotary position embedding of q and k, half-rotation layout; returns both.",
  tags = { "positional" },
  params = {
    { "q", "float[batch, q_heads, seq, head_dim]" },
    { "k", "float[batch, kv_heads, seq, head_dim]" },
    { "cos", "float[cos_batch, seq, head_dim]" },
    { "sin", "float[cos_batch, seq, head_dim]" },
  },
  returns = { "float[batch, q_heads, seq, head_dim]", "float[batch, kv_heads, seq, head_dim]" },
  no_grad = { "cos", "sin" },
  inputs = { cos = angle("cos"), sin = angle("sin") },

  domain = function(c)
    local d = c.dims
    if d.head_dim % 2 ~= 0 then return false, "head_dim must be even" end
    if d.cos_batch ~= 1 and d.cos_batch ~= d.batch then return false, "cos_batch must be 1 or batch" end
    return true
  end,

  reference = function(q, k, cos, sin)
    local c, s = cos:upcast():unsqueeze(1), sin:upcast():unsqueeze(1)
    local function rotate(x)
      local h = x:upcast()
      local half = x.shape[4] // 2
      local rotated = tensor.cat({ -h:narrow(-1, half, half), h:narrow(-1, 0, half) }, -1)
      return (h * c + rotated * s):to(x.dtype)
    end
    return rotate(q), rotate(k)
  end,

  bytes = function(c)
    local pass = 2 * (c.bytes.q + c.bytes.k) + c.bytes.cos + c.bytes.sin
    return pass, pass
  end,
  flops = function(c)
    local pass = 3 * (c.numel.q + c.numel.k)
    return pass, pass
  end,
}
