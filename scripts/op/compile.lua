--- popcorn op check OP… | --all --compile-only [--arch LIST] [--json]: compiles what registered candidates launch.
---
--- Each candidate is planned on the sample for a GPU, once per architecture, forward and backward where it has both.
local args = ...
local sampler = require("scripts.samplers.default")
local text = require("scripts.lib.text")
local tolerances = require("scripts.lib.tolerances")

local CASES, TIMEOUT = 6, 240
-- What the sampler's limits ask of a device.
local GPU = { kind = "cuda", memory_bytes = 80 << 30 }

--- Kernels that one candidate launches, by `source: kernel`; nil and a fault when a case has no plan.
local function kernels(op, candidate, architecture)
  local found, count = {}, 0
  for _, case in ipairs(sampler(op, CASES, GPU)) do
    local settings = {
      device = architecture,
      seed = 0,
      reps = 1,
      backward = #op:signature(case).grads > 0,
      timeout = TIMEOUT,
      tolerance = tolerances.of(op),
    }
    local plan, fault = popcorn.plan(candidate, op, case, settings)
    if not plan then
      return nil, { case = case.text, status = fault.status, reason = fault.reason, detail = fault.detail }
    end
    for _, module in ipairs(plan:data().modules) do
      for _, kernel in ipairs(module.kernels) do
        local key = module.key .. kernel.name
        count = count + (found[key] and 0 or 1)
        found[key] = true
      end
    end
  end
  return count
end

local names = args.all and popcorn.op.names() or args.ops
local rows, failed, faulty = {}, 0, 0
for _, name in ipairs(names) do
  local op = popcorn.op.load(name)
  local impls = {}
  for impl in pairs(op.impls) do
    impls[#impls + 1] = impl
  end
  table.sort(impls)
  if #impls == 0 and not args.all then
    popcorn.log(("%s: no candidate is registered; there is nothing to compile"):format(name))
  end
  for _, impl in ipairs(impls) do
    for _, architecture in ipairs(args.arch) do
      popcorn.report.progress(("%s:%s for %s"):format(name, impl, architecture))
      local count, fault = kernels(op, popcorn.candidate.open(op, impl), architecture)
      popcorn.report.progress()
      rows[#rows + 1] = { op = name, impl = impl, arch = architecture, ok = count ~= nil, kernels = count, fault = fault }
      if fault then
        failed = failed + 1
        faulty = faulty + (fault.status == "error" and 1 or 0)
      end
    end
  end
end

if args.json then
  popcorn.out(popcorn.json.encode({ compiled = popcorn.json.list(rows), failed = failed }))
else
  local lines = { { "status", "op", "implementation", "arch", "kernels" } }
  for _, row in ipairs(rows) do
    lines[#lines + 1] = { row.ok and "ok" or "FAIL", row.op, row.impl, row.arch, tostring(row.kernels or "-") }
  end
  for _, line in ipairs(text.columns(lines)) do
    popcorn.out(line)
  end
  for _, row in ipairs(rows) do
    if row.fault then
      popcorn.log(("%s:%s for %s: %s: %s"):format(row.op, row.impl, row.arch, row.fault.case, row.fault.reason))
    end
  end
end
return faulty > 0 and popcorn.exit.fault or failed > 0 and popcorn.exit.revert or popcorn.exit.keep
