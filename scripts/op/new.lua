-- popcorn op new NAME: a commented skeleton that passes `popcorn op check NAME` as it is.
local args = ...

local SKELETON = [[
-- The paper or library that defines the op: authors, "Title", year (arXiv:…). `popcorn op show` prints this comment.
return {
  summary = "One sentence: what @NAME@ computes, with its formula.",
  -- The first tag is the group in `popcorn op list`.
  tags = { "activation" },

  -- In the order of the signature. Tensors: { name, type }; `float` is the case's dtype, names are dims that cases give,
  -- `...` any leading extents. { name, type, optional = true } may be absent. Integers have a range:
  -- { "labels", "int64[tokens]", range = { 0, "vocab" } }. Scalars: { name, default, values = { … } }, default first.
  params = {
    { "x", "float[..., hidden]" },
    { "weight", "float[hidden]" },
    { "alpha", 1.0, values = { 1.0, 0.5 } },
  },
  returns = { "float[..., hidden]" },

  -- The truth: PyTorch's names, dims from 0; gradients are found from it. `upcast` makes float32 of 16-bit floats, and
  -- leaves float64, in which it is evaluated as truth.
  reference = function(x, weight, alpha)
    local h = x:upcast()
    local y = h * (1 + alpha * h:square()):rsqrt() * weight:upcast()
    return y:to(x.dtype)
  end,

  -- Draws are standard normal. Where the op wants other values: inputs = { x = function(draw) return draw:exp() end }.
  -- Float inputs without a gradient: no_grad = { "x" }.
  -- Cases that make no sense: domain = function(c) return c.dims.hidden % 2 == 0, "hidden must be even" end.

  -- Least traffic in bytes and least work in floating-point operations, forward and backward: what times are held
  -- against. Each input is read once and each output and gradient written once.
  bytes = function(c)
    return 2 * c.bytes.x + c.bytes.weight, 3 * c.bytes.x + 2 * c.bytes.weight
  end,
  flops = function(c) return 6 * c.numel.x, 10 * c.numel.x end,

  -- Candidates: kernels/@NAME@_cu.lua and its kernels/@NAME@.cu.
  impls = { popcorn = "@NAME@_cu" },
}
]]

local name = args.name
if not name:match "^[a-z][a-z0-9_]*$" then
  popcorn.fail("usage", ("'%s' is no name of an op: small letters, digits and _, a letter first"):format(name))
end
local path = popcorn.script.create(("ops/%s.lua"):format(name), (SKELETON:gsub("@NAME@", name)))
popcorn.out(("wrote %s"):format(path))
popcorn.out(("next: edit it, then `popcorn op check %s` and `popcorn op show %s`"):format(name, name))
return 0
