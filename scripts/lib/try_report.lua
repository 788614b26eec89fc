--- What `loop try` prints: a header, a line per case, the verdict. With --json only the record, on stdout.
local text = require("scripts.lib.text")

local M = {}

--- `0.123 ms`, or a dash.
local function ms(value)
  return value and (value < 0.1 and "%.4f" or "%.3f"):format(value) or "-"
end

--- `forward / backward` medians.
local function pair(forward, backward)
  if not forward then
    return "-"
  end
  return backward and (ms(forward.median_ms) .. " / " .. ms(backward.median_ms)) or ms(forward.median_ms)
end

--- The header, before anything is run.
function M.begin(op, cases, candidate, settings, json)
  if json then
    return
  end
  popcorn.out(("%s: %s on %s, %s, %s, %s"):format(
    popcorn.report.style(op.name, "bold"), candidate.shown, settings.device, text.plural(#cases, "case"),
    text.plural(settings.reps, "draw"), settings.backward and "forward and backward" or "forward only"))
end

--- One finished case: status, case, times, what they are compared with, and how much of its error bound it used.
function M.case(result, json)
  if json then
    return
  end
  local passed = result.status == "pass"
  local parts = { popcorn.report.style(("%-5s"):format(result.status), passed and "good" or "bad"), result.case }
  if result.forward then
    parts[#parts + 1] = pair(result.forward, result.backward) .. " ms"
  end
  if result.ref then
    parts[#parts + 1] = popcorn.report.style("(ref " .. pair(result.ref.forward, result.ref.backward) .. ")", "dim")
  end
  if result.vs then
    local times = result.vs.status == "pass" and pair(result.vs.forward, result.vs.backward) or result.vs.status
    parts[#parts + 1] = popcorn.report.style(("(%s %s)"):format(result.vs.impl, times), "dim")
  end
  if passed then
    parts[#parts + 1] = popcorn.report.style(text.error_use(result.tensors), "dim")
  end
  popcorn.out("  " .. table.concat(parts, "  "))
  if not passed then
    popcorn.out("        " .. result.reason)
    for _, line in ipairs(result.detail or {}) do
      popcorn.out("        " .. popcorn.report.style("| " .. line, "dim"))
    end
  end
end

--- The plan of every case, for --show-plan.
function M.plans(op, cases, candidate, settings, json)
  local code = popcorn.exit.keep
  for _, case in ipairs(cases) do
    local plan, fault = popcorn.plan(candidate, op, case, settings)
    if plan and json then
      popcorn.out(popcorn.json.encode({ case = case.text, plan = plan:data() }))
    elseif plan then
      popcorn.out(popcorn.report.style(case.text, "bold") .. "\n" .. plan:render())
    else
      popcorn.log(("%s: %s: %s"):format(case.text, fault.status, fault.reason))
      code = fault.status == "error" and popcorn.exit.fault or popcorn.exit.revert
    end
  end
  return code
end

local STYLE = { keep = "good", revert = "bad" }

--- The verdict and where it was recorded.
function M.verdict(record, log, json)
  if json then
    popcorn.out(popcorn.json.encode(record))
    return
  end
  local verdict = record.verdict == "none" and "NO VERDICT" or record.verdict:upper()
  local totals = {}
  if record.total_ms then
    totals[#totals + 1] = ("total %s ms"):format(ms(record.total_ms))
  end
  if record.ref_total_ms then
    totals[#totals + 1] = ("ref %s ms"):format(ms(record.ref_total_ms))
  end
  if record.vs then
    totals[#totals + 1] = ("%s %s ms"):format(record.vs, ms(record.vs_total_ms))
  end
  popcorn.out(("%s  %s  [%s]"):format(
    popcorn.report.style(verdict, STYLE[record.verdict] or "warning"), record.reason, table.concat(totals, ", ")))
  popcorn.out(popcorn.report.style("recorded in " .. log, "dim"))
end

return M
