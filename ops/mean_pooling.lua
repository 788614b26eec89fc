-- One vector per block of tokens, by which blockwise attention selects blocks: Lu et al., "MoBA: Mixture of Block
-- Attention for Long-Context LLMs", 2025 (arXiv:2502.13189).
local function chunks(c) return (c.dims.seq + c.args.chunk_size - 1) // c.args.chunk_size end

return {
  summary = "Mean over each chunk of chunk_size tokens; the last chunk may be shorter.",
  tags = { "reduction" },
  params = {
    { "x", "float[batch, seq, heads, width]" },
    { "chunk_size", 4 },
  },
  returns = function(c) return { ("float[batch, %d, heads, width]"):format(chunks(c)) } end,

  domain = function(c)
    if c.args.chunk_size < 1 then return false, "chunk_size must be at least 1" end
    return true
  end,

  reference = function(x, chunk_size)
    local parts = { x:upcast():split(chunk_size, 1) }
    for i, part in ipairs(parts) do parts[i] = part:mean(1, true) end
    return tensor.cat(parts, 1):to(x.dtype)
  end,

  bytes = function(c)
    local traffic = c.bytes.x + c.bytes.x // c.dims.seq * chunks(c)
    return traffic, traffic
  end,
  flops = function(c) return c.numel.x, c.numel.x // c.dims.seq * chunks(c) end,
}
