-- popcorn op show OP [--cases N] [--json]: signature, pools, tolerance, implementations and the default sample.
local args = ...
local text = require "scripts.lib.text"
local sample = require "scripts.samplers.default"

local op = popcorn.op.load(args.op)
local device = args.device or { kind = "cpu", memory_bytes = 8 << 30 }
local cases = sample(op, args.cases or 4, device)

local rows = {}
for i, case in ipairs(cases) do
  local forward, backward = op:bytes(case)
  local flops = op:flops(case)
  rows[i] = { id = case.id, case = case.text, bytes = { forward = forward, backward = backward }, flops = flops }
end

if args.json then
  popcorn.out(popcorn.json.encode {
    name = op.name,
    file = op.file,
    summary = op.summary,
    tags = popcorn.json.list(op.tags),
    params = op.params,
    returns = popcorn.json.list(op.returns),
    no_grad = popcorn.json.list(op.no_grad),
    tolerance = op.tolerance,
    impls = op.impls,
    sample = { id = popcorn.case.sample_id(cases), device = device.kind, cases = rows },
  })
  return 0
end

local out = popcorn.out
out(("%s: %s"):format(op.name, op.summary))
if #op.tags > 0 then out("tags: " .. table.concat(op.tags, ", ")) end
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

local tolerance = {}
for dtype, bound in pairs(op.tolerance) do tolerance[#tolerance + 1] = ("%s %g"):format(dtype, bound) end
table.sort(tolerance)
out("tolerance  " .. (#tolerance == 0 and "the default table" or table.concat(tolerance, ", ")))

local impls = {}
for name, module in pairs(op.impls) do impls[#impls + 1] = ("%s (kernels/%s.lua)"):format(name, module) end
table.sort(impls)
out("impls      " .. (#impls == 0 and "none" or table.concat(impls, ", ")))

out ""
out(("default sample %s on %s"):format(popcorn.case.sample_id(cases), device.kind))
local sample_rows = { { "  id", "bytes", "flops", "case" } }
for _, row in ipairs(rows) do
  local bytes = row.bytes.forward + row.bytes.backward
  sample_rows[#sample_rows + 1] = { "  " .. row.id, text.bytes(bytes), text.count(row.flops), row.case }
end
for _, line in ipairs(text.columns(sample_rows)) do out(line) end
return 0
