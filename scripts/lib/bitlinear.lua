-- The linear layer of BitNet: Wang et al., 2023 (arXiv:2310.11453), with the ternary weights of Ma et al., "The Era of
-- 1-bit LLMs", 2024 (arXiv:2402.17764). Rounding has no derivative, so gradients go straight through it as if it were
-- not there (Bengio et al., 2013, arXiv:1308.3432); they are not those of the function that is computed.
local M = {}

-- An element on the border between two of a token's 8-bit levels may be rounded to either by two right kernels, which
-- moves it by 1/127 of the token's largest; with one token, a gradient of the weight moves as much.
M.tolerance = { float32 = 1e-2, float16 = 1e-2 }

-- The value of `rounded` with the gradient of `x`.
local function straight_through(x, rounded) return x + (rounded - x):detach() end

-- Eight bits per element, by the largest magnitude of each token.
local function quantize_tokens(h)
  local scale = 127 / h:abs():amax(-1, true):clamp(1e-5)
  return straight_through(h, (h * scale):round():clamp(-128, 127) / scale)
end

-- -1, 0 or 1 times the mean magnitude of all weights.
local function quantize_weight(w)
  local scale = 1 / w:abs():mean():clamp(1e-5)
  return straight_through(w, (w * scale):round():clamp(-1, 1) / scale)
end

-- quantize(h) @ quantize(weight).T + bias, in the weight's dtype.
function M.apply(h, weight, bias)
  local y = quantize_tokens(h):linear(quantize_weight(weight:upcast()), bias and bias:upcast())
  return y:to(weight.dtype)
end

return M
