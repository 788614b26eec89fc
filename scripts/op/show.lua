-- popcorn op show OP [--cases N] [--json]: what it computes and who defined it, signature, pools, tolerance,
-- implementations, the default sample, and the least traffic and work of its first case.
local args = ...
local text = require "scripts.lib.text"
local tolerances = require "scripts.lib.tolerances"
local sample = require "scripts.samplers.default"

local op = popcorn.op.load(args.op)
local device = popcorn.device.open(args.device or "auto")
local cases = sample(op, args.cases or 4, device)

-- What a case must at least move and compute, by pass; `intensity` is operations a byte.
local function floor_of(case)
  local bytes, flops = { op:bytes(case) }, { op:flops(case) }
  local function pass(i)
    return { bytes = bytes[i], flops = flops[i], intensity = bytes[i] > 0 and flops[i] / bytes[i] or 0 }
  end
  return { forward = pass(1), backward = pass(2) }
end

local rows = {}
for i, case in ipairs(cases) do rows[i] = { id = case.id, case = case.text, floor = floor_of(case) } end
local tolerance = tolerances.of(op)

if args.json then
  popcorn.out(popcorn.json.encode {
    name = op.name,
    file = op.file,
    summary = op.summary,
    about = popcorn.json.list(op.about),
    tags = popcorn.json.list(op.tags),
    params = op.params,
    returns = popcorn.json.list(op.returns),
    no_grad = popcorn.json.list(op.no_grad),
    tolerance = tolerance,
    impls = op.impls,
    sample = { id = popcorn.case.sample_id(cases), device = device.kind, cases = rows },
  })
  return 0
end

local out = popcorn.out
out(("%s: %s"):format(op.name, op.summary))
for _, line in ipairs(op.about) do out(line) end
out(("%s   tags: %s"):format(op.file, #op.tags > 0 and table.concat(op.tags, ", ") or "none"))
out ""

local params = {}
for _, param in ipairs(op.params) do
  local note = ""
  if param.kind == "scalar" then
    local values = {}
    for i, value in ipairs(param.texts) do values[i] = text.quoted(value) end
    note = #values > 1 and "samples use " .. table.concat(values, " ") or ""
  elseif param.range then
    note = ("values from %s to below %s"):format(param.range[1], param.range[2])
  end
  params[#params + 1] = { "  " .. text.param(param), note }
end
out "parameters"
for _, line in ipairs(text.columns(params)) do out(line) end

local returns = op.returns
if #returns == 0 then
  for i, output in ipairs(op:signature(cases[1]).outputs) do
    returns[i] = ("%s[%s] (depends on the case)"):format(output.dtype, table.concat(output.shape, ", "))
  end
end
out("returns    " .. table.concat(returns, ", "))
if #op.no_grad > 0 then out("no gradient " .. table.concat(op.no_grad, ", ")) end

local bounds = {}
for dtype, bound in pairs(tolerance.floor) do
  bounds[#bounds + 1] = ("%s %g%s"):format(dtype, bound, op.tolerance[dtype] and " (the op's own)" or "")
end
table.sort(bounds)
out(("tolerance  max|error| <= max(%g * honest error, floor * max|truth|); floor: %s"):format(
  tolerance.honest_factor, table.concat(bounds, ", ")))

local impls = {}
for name, module in pairs(op.impls) do impls[#impls + 1] = ("%s (kernels/%s.lua)"):format(name, module) end
table.sort(impls)
out("impls      " .. (#impls == 0 and "none" or table.concat(impls, ", ")))

out ""
out(("default sample %s on %s"):format(popcorn.case.sample_id(cases), device.kind))
local sample_rows = { { "  id", "bytes", "flops", "case" } }
for _, row in ipairs(rows) do
  local forward, backward = row.floor.forward, row.floor.backward
  local bytes, flops = text.bytes(forward.bytes + backward.bytes), text.count(forward.flops + backward.flops)
  sample_rows[#sample_rows + 1] = { "  " .. row.id, bytes, flops, row.case }
end
for _, line in ipairs(text.columns(sample_rows)) do out(line) end

out ""
out(("least traffic and work of %s"):format(rows[1].case))
local floor_rows = { { "", "bytes", "flops", "flops per byte" } }
for _, name in ipairs { "forward", "backward" } do
  local pass = rows[1].floor[name]
  floor_rows[#floor_rows + 1] = {
    "  " .. name, text.bytes(pass.bytes), text.count(pass.flops), ("%.1f"):format(pass.intensity),
  }
end
for _, line in ipairs(text.columns(floor_rows)) do out(line) end
return 0
