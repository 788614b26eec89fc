-- popcorn op check OP… | --all [--against FILE|DIR] [--json]
--
-- Without --against: the reference runs at float64 and at the case's dtype on the two smallest cases of the default
-- sample, and its gradients agree with central differences along a random direction.
-- With --against: every case of a safetensors file of golden vectors, outputs and gradients.
local args = ...
local text = require "scripts.lib.text"
local sample = require "scripts.samplers.default"

-- Largest error allowed over the largest absolute value of what is compared.
local GOLDEN_BOUND = 1e-10
-- The vectors of these were computed in float32 at one place.
local SINGLE_BOUND, SINGLE = 1e-5, { iplr_delta_rule = true, kda_gate = true, nsa_compression = true }
-- Central differences of a float64 function with step 1e-5 are good to about 1e-10 of its third derivative.
local STEP, DIFFERENCE_BOUND = 1e-5, 1e-6
local DEVICE = { kind = "cpu", memory_bytes = 8 << 30 }

local function largest(x)
  return x.numel == 0 and 0 or x:to("float64"):abs():max():item()
end

-- Max-norm relative error; integers and booleans are compared exactly.
local function error_of(mine, want)
  if table.concat(mine.shape, "x") ~= table.concat(want.shape, "x") then return math.huge end
  local difference = largest(mine:to("float64") - want:to("float64"))
  if difference == 0 then return 0 end
  local scale = largest(want)
  return scale > 0 and difference / scale or math.huge
end

local function result(op, case, what, err, bound)
  -- Written so that NaN fails.
  return { op = op.name, case = tostring(case), what = what, error = err, ok = err <= bound }
end

local function check_golden(op, path)
  local tensors, metadata = popcorn.safetensors.read(path)
  if metadata.op ~= op.name then error(("%s: holds op '%s', not '%s'"):format(path, metadata.op, op.name), 0) end
  local results, bound = {}, SINGLE[op.name] and SINGLE_BOUND or GOLDEN_BOUND
  for k, golden in ipairs(popcorn.json.decode(metadata.cases)) do
    local case = op:case(golden.config)
    -- The text form is a contract too.
    if case.text ~= golden.case then error(("%s: '%s' reads back as '%s'"):format(path, golden.case, case.text), 0) end
    local inputs, cotangents = {}, {}
    local prefix = (k - 1) .. "."
    for name, tensor in pairs(tensors) do
      local input = name:match("^" .. (k - 1) .. "%.in%.(.+)$")
      if input then inputs[input] = tensor end
    end
    local outputs = op:signature(case).outputs
    for i in ipairs(outputs) do cotangents[i] = tensors[prefix .. "cot." .. (i - 1)] or false end
    local got = op:evaluate(case, inputs, cotangents)
    for i, output in ipairs(got.outputs) do
      local want = tensors[prefix .. "out." .. (i - 1)]
      results[#results + 1] = result(op, case, "output " .. i, want and error_of(output, want) or math.huge, bound)
    end
    for _, param in ipairs(op.params) do
      local name, wanted = param.name, golden.grads[param.name]
      local mine, want = got.grads[name], tensors[prefix .. "grad." .. name]
      local err = 0
      if wanted then
        err = mine and want and error_of(mine, want) or math.huge
      elseif mine then
        err = math.huge
      end
      if wanted ~= nil then results[#results + 1] = result(op, case, "grad " .. name, err, bound) end
    end
  end
  return results
end

-- sum of <output, cotangent> over the outputs, a number.
local function objective(op, case, inputs, cotangents)
  local total = 0
  for i, output in ipairs(op:evaluate(case, inputs).outputs) do
    if cotangents[i] then total = total + (output * cotangents[i]:to("float64")):sum():item() end
  end
  return total
end

local function check_itself(op)
  local cases = sample(op, 4, DEVICE)
  table.sort(cases, function(a, b) return op:size(a).total < op:size(b).total end)
  local results = {}
  for i = 1, math.min(2, #cases) do
    local case = cases[i]
    local inputs, cotangents = op:draw(case, 0), op:cotangents(case, 0)
    local truth = op:evaluate(case, inputs, cotangents)
    -- Raises if an output or gradient does not have the declared shape and dtype.
    op:evaluate(case, inputs, cotangents, { dtype = case.dtype })

    -- Along one direction in all inputs at once: d/dh f(x + h v) = <grad f, v>.
    local direction = op:draw(case, 1)
    local plus, minus, slope, scale = {}, {}, 0, 0
    for name, x in pairs(inputs) do
      plus[name], minus[name] = x, x
      local gradient = truth.grads[name]
      if gradient then
        local v, x64 = direction[name]:to("float64"), x:to("float64")
        plus[name], minus[name] = x64 + v * STEP, x64 - v * STEP
        local products = gradient * v
        slope = slope + products:sum():item()
        scale = scale + products:abs():sum():item()
      end
    end
    local difference = (objective(op, case, plus, cotangents) - objective(op, case, minus, cotangents)) / (2 * STEP)
    local err = scale > 0 and math.abs(difference - slope) / scale or math.abs(difference)
    results[#results + 1] = result(op, case, "gradients", err, DIFFERENCE_BOUND)
  end
  return results
end

local names = args.all and popcorn.op.names() or args.ops or {}
local function golden_file(name)
  return args.against:match("%.safetensors$") and args.against or ("%s/%s.safetensors"):format(args.against, name)
end

local results, faults, failed = {}, {}, 0
for _, name in ipairs(names) do
  local found, err = popcorn.try(function()
    local op = popcorn.op.load(name)
    if args.against then return check_golden(op, golden_file(name)) end
    return check_itself(op)
  end)
  if found then
    for _, row in ipairs(found) do
      results[#results + 1] = row
      if not row.ok then failed = failed + 1 end
    end
  else
    faults[#faults + 1] = err
  end
end

if args.json then
  for _, row in ipairs(results) do
    -- JSON has no infinity: an error that is no number is left out.
    if row.error ~= row.error or row.error == math.huge then row.error = nil end
  end
  local messages = {}
  for i, err in ipairs(faults) do messages[i] = err.message end
  popcorn.out(popcorn.json.encode {
    checks = popcorn.json.list(results),
    faults = popcorn.json.list(messages),
    failed = failed,
  })
else
  local rows = { { "status", "op", "what", "error", "case" } }
  for _, row in ipairs(results) do
    rows[#rows + 1] = { row.ok and "ok" or "FAIL", row.op, row.what, ("%.1e"):format(row.error), row.case }
  end
  if #results > 0 then
    for _, line in ipairs(text.columns(rows)) do popcorn.out(line) end
    popcorn.out(("%d of %d checks passed"):format(#results - failed, #results))
  end
end
for _, err in ipairs(faults) do popcorn.log(err.message) end

-- A usage error (an unknown op) counts most, then a fault of the op or its file, then a failed check.
for _, err in ipairs(faults) do
  if err.kind == "usage" then return 2 end
end
if #faults > 0 then return 4 end
return failed == 0 and 0 or 1
