--- The literal rule on stored totals: KEEP when every case passed and the total is at least 1 % under the best
--- comparable kept total; the first passing experiment is the baseline.
---
--- A policy is a pure function: tables in, one table out, no I/O, no clock.
---@param experiment popcorn.Experiment
---@return popcorn.Decision
return function(experiment)
  for _, result in ipairs(experiment.results) do
    if result.status ~= "pass" then
      return { verdict = "revert", reason = ("%s: %s"):format(result.status, result.reason) }
    end
  end
  local total, champion = experiment.total_ms, experiment.champion
  if not total then
    return { verdict = "revert", reason = "no total: a case was not timed" }
  end
  if not champion then
    return { verdict = "keep", reason = ("first passing baseline: %.3f ms"):format(total) }
  end
  local gain = 1 - total / champion.total_ms
  if gain >= 0.01 then
    return { verdict = "keep", reason = ("%.3f ms is %.1f %% under the best kept %.3f ms"):format(total, gain * 100, champion.total_ms) }
  end
  return {
    verdict = "revert",
    reason = ("%.3f ms does not improve the best kept %.3f ms by at least 1 %% (%+.1f %%)"):format(total, champion.total_ms, gain * 100),
  }
end
