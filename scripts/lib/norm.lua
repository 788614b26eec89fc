-- Normalizations over the last dimension, gates, and how much traffic and work an op of them takes. All return float32
-- for the 16-bit dtypes; weight and bias may be nil.
local M = {}

local function affine(y, weight, bias)
  if weight then y = y * weight:upcast() end
  if bias then y = y + bias:upcast() end
  return y
end

-- Mean 0 and (population) variance 1.
local function standardize(h, eps)
  local d = h - h:mean(-1, true)
  return d * (d:square():mean(-1, true) + eps):rsqrt()
end

-- Mean square 1.
local function rescale(h, eps) return h * (h:square():mean(-1, true) + eps):rsqrt() end

function M.layer(x, weight, bias, eps) return affine(standardize(x:upcast(), eps), weight, bias) end

function M.rms(x, weight, bias, eps) return affine(rescale(x:upcast(), eps), weight, bias) end

-- Layer normalization of each of `groups` equal parts of the last dimension.
function M.group(x, groups, weight, bias, eps)
  local parts = x:upcast():unflatten(-1, { groups, -1 })
  return affine(standardize(parts, eps):flatten(-2), weight, bias)
end

function M.group_domain(c)
  local groups = c.args.num_groups
  if groups < 1 or c.dims.channels % groups ~= 0 then return false, "num_groups must divide channels" end
  return true
end

-- What `x` is multiplied by: g * sigmoid(g) for swish, or sigmoid(g).
function M.gate(g, activation)
  return activation == "swish" and g:upcast():silu() or g:upcast():sigmoid()
end

-- Forward reads the inputs and writes the output, which is as large as x; backward reads the inputs and dy, and writes
-- their gradients. A bias is written only then: `biases` lists them.
function M.bytes(inputs, biases)
  return function(c)
    local read, bias = 0, 0
    for _, name in ipairs(inputs) do read = read + c.bytes[name] end
    for _, name in ipairs(biases) do bias = bias + c.bytes[name] end
    return read + bias + c.bytes.x, 2 * read + bias + c.bytes.x
  end
end

return M
