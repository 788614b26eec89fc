-- Su et al., "RoFormer", 2021 (arXiv:2104.09864). Pairs are (m, m + half) as in GPT-NeoX, or (2m, 2m + 1) as in GPT-J
-- when interleaved; channels from 2 * half on are not turned.
return {
  summary = "Rotary position embedding of the first 2 * half channels: (y1, y2) = (x1 cos - x2 sin, x1 sin + x2 cos).",
  tags = { "positional" },
  params = {
    { "x", "float[batch, seq, heads, head_dim]" },
    { "cos", "float[seq, half]" },
    { "sin", "float[seq, half]" },
    { "interleaved", false, values = { false, true } },
  },
  returns = { "float[batch, seq, heads, head_dim]" },
  no_grad = { "cos", "sin" },

  domain = function(c)
    if 2 * c.dims.half > c.dims.head_dim then return false, "half must be at most head_dim / 2" end
    return true
  end,

  reference = function(x, cos, sin, interleaved)
    local half = cos.shape[2]
    local c, s = cos:upcast():unsqueeze(1), sin:upcast():unsqueeze(1)
    local h, rest = x:upcast():split({ 2 * half, x.shape[4] - 2 * half }, -1)
    local x1, x2
    if interleaved then
      h = h:unflatten(-1, { half, 2 })
      x1, x2 = h:select(-1, 0), h:select(-1, 1)
    else
      x1, x2 = h:narrow(-1, 0, half), h:narrow(-1, half, half)
    end
    local y1, y2 = x1 * c - x2 * s, x1 * s + x2 * c
    local y = interleaved and tensor.stack({ y1, y2 }, -1):flatten(-2) or tensor.cat({ y1, y2 }, -1)
    return tensor.cat({ y, rest }, -1):to(x.dtype)
  end,

  -- Backward is a rotation by the opposite angle.
  bytes = function(c)
    local pass = 2 * c.bytes.x + c.bytes.cos + c.bytes.sin
    return pass, pass
  end,
  flops = function(c)
    local pass = 6 * c.dims.half * (c.numel.x // c.dims.head_dim)
    return pass, pass
  end,
}
