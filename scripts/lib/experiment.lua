--- One case of an experiment: draw, plan, launch, grade. Each step returns its value, or nil and a fault
--- `{ status, code, reason, detail? }`; the first fault ends the case, never the experiment.
local M = {}

--- Cases from their text forms.
function M.cases(op, specs)
  local cases = {}
  for i, spec in ipairs(specs) do
    cases[i] = op:case(spec)
  end
  return cases
end

--- Runs `candidate` on the inputs of `draws` and grades what its timed launches wrote.
local function evaluate(op, case, draws, candidate, settings)
  local plan, fault = popcorn.plan(candidate, op, case, settings)
  if not plan then
    return fault
  end
  local run
  run, fault = popcorn.launch(plan, draws, settings)
  if not run then
    return fault
  end
  local grade = popcorn.grade(draws, run, settings.tolerance)
  return {
    status = grade.status,
    code = grade.code,
    reason = grade.reason,
    tensors = grade.tensors,
    forward = run.forward,
    backward = run.backward,
    scratch_mb = run.scratch_mb,
    timer = run.timer,
    total_ms = run.forward.median_ms + (run.backward and run.backward.median_ms or 0),
    sources = plan:sources(),
  }
end

--- One case for the candidate and, beside it on the same inputs, for the rival.
---@return popcorn.CaseResult
function M.run(op, case, candidate, rival, settings)
  local draws, fault = popcorn.draw(op, case, settings)
  local result = draws and evaluate(op, case, draws, candidate, settings) or fault
  result.case, result.case_id = case.text, case.id
  if draws then
    result.ref = draws:reference_times()
    if rival then
      local other = evaluate(op, case, draws, rival, settings)
      result.vs = { impl = rival.name, status = other.status, reason = other.reason, forward = other.forward,
        backward = other.backward, total_ms = other.total_ms }
    end
  end
  return result
end

--- The decision when a case could not be judged through no fault of the candidate; nil when all could.
function M.faulty(results)
  for _, result in ipairs(results) do
    if result.status == "error" then
      return { verdict = "none", reason = ("error: %s"):format(result.reason) }
    end
  end
end

return M
