-- Running sums as the gated linear-attention kernels use them: over a whole axis or restarting at every chunk, from
-- either end.
local M = {}

local function running(x, axis, reverse)
  if reverse then return x:flip(axis):cumsum(axis):flip(axis) end
  return x:cumsum(axis)
end

-- Inclusive sum along `axis`, restarting every `chunk_size` (never if nil), times `scale` if given.
function M.cumsum(x, axis, options)
  local y
  if options.chunk_size then
    local parts = { x:split(options.chunk_size, axis) }
    for i, part in ipairs(parts) do parts[i] = running(part, axis, options.reverse) end
    y = tensor.cat(parts, axis)
  else
    y = running(x, axis, options.reverse)
  end
  return options.scale and y * options.scale or y
end

return M
