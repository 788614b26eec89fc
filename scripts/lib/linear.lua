-- Linear layers at the end of fused ops, and how much traffic and work such an op takes.
local M = {}

-- h @ weight.T + bias (which may be nil), of float32 or float64 h. Matrix units take both operands in the case's dtype,
-- so h is rounded to it first; sums are float32.
function M.apply(h, weight, bias)
  local dtype = weight.dtype
  return h:to(dtype):upcast():linear(weight:upcast(), bias and bias:upcast()):to(dtype)
end

-- Standard normal weights brought down so that outputs are about as large as inputs; `dim` is the one summed over.
function M.scaled_draw(dim)
  return function(draw) return draw / draw.shape[dim + 1] ^ 0.5 end
end

-- Elements of the output of a layer whose input is as large as x.
local function outputs(c, weight)
  local shape = c.shape[weight]
  return c.numel.x // shape[2] * shape[1]
end

-- Forward reads inputs and biases and writes the output; backward reads inputs and dy, and writes all gradients.
function M.bytes(weight, inputs, biases)
  return function(c)
    local read, bias = c.bytes[weight], 0
    for _, name in ipairs(inputs) do read = read + c.bytes[name] end
    for _, name in ipairs(biases) do bias = bias + c.bytes[name] end
    local out = outputs(c, weight) * c.itemsize
    return read + bias + out, 2 * read + bias + out
  end
end

-- One product forward, two backward, and what the rest takes per element of x.
function M.flops(weight, forward, backward)
  return function(c)
    local product = 2 * outputs(c, weight) * c.shape[weight][2]
    return product + forward * c.numel.x, 2 * product + backward * c.numel.x
  end
end

return M
