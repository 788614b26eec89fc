-- Wang et al., "Qwen2-VL", 2024 (arXiv:2409.12191): rotary embedding (Su et al., 2021, arXiv:2104.09864) whose channels
-- take their angles from a token's place in time, height or width. Element m is paired with element m + head_dim/2.
local function angle(fn)
  -- Both halves hold the same angles.
  return function(draw, c)
    local half = draw:narrow(-1, 0, c.dims.head_dim // 2)
    half = half[fn](half)
    return tensor.cat({ half, half }, -1)
  end
end

return {
  summary = "Rotary position embedding of q and k with three tables of angles (time, height, width), each for its"
    .. " section of the channels, half-rotation layout.",
  tags = { "positional" },
  params = {
    { "q", "float[batch, q_heads, seq, head_dim]" },
    { "k", "float[batch, kv_heads, seq, head_dim]" },
    { "cos", "float[3, batch, seq, head_dim]" },
    { "sin", "float[3, batch, seq, head_dim]" },
    { "mrope_section", { 8, 4, 4 } },
  },
  returns = { "float[batch, q_heads, seq, head_dim]", "float[batch, kv_heads, seq, head_dim]" },
  no_grad = { "cos", "sin" },
  inputs = { cos = angle("cos"), sin = angle("sin") },

  domain = function(c)
    local section = c.args.mrope_section
    if #section ~= 3 then return false, "mrope_section must have three extents: time, height, width" end
    if math.min(section[1], section[2], section[3]) < 0 then return false, "mrope_section must not be negative" end
    if 2 * (section[1] + section[2] + section[3]) ~= c.dims.head_dim then
      return false, "mrope_section must add up to head_dim / 2"
    end
    return true
  end,

  reference = function(q, k, cos, sin, mrope_section)
    -- The sections repeat in the second half; the m-th part of the channels comes from table m.
    local function pick(tables)
      local parts, start = {}, 0
      for part = 0, 5 do
        local width = mrope_section[part % 3 + 1]
        parts[#parts + 1] = tables:select(0, part % 3):narrow(-1, start, width)
        start = start + width
      end
      return tensor.cat(parts, -1):upcast():unsqueeze(1)
    end
    local c, s = pick(cos), pick(sin)
    local function rotate(x)
      local h, half = x:upcast(), x.shape[4] // 2
      local turned = tensor.cat({ -h:narrow(-1, half, half), h:narrow(-1, 0, half) }, -1)
      return (h * c + turned * s):to(x.dtype)
    end
    return rotate(q), rotate(k)
  end,

  -- Of the three tables, one element a channel is used.
  bytes = function(c)
    local pass = 2 * (c.bytes.q + c.bytes.k) + (c.bytes.cos + c.bytes.sin) / 3
    return pass, pass
  end,
  flops = function(c)
    local pass = 3 * (c.numel.q + c.numel.k)
    return pass, pass
  end,
}
