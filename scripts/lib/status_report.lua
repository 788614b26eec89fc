--- What `loop status` prints.
local text = require("scripts.lib.text")

local M = {}

local SIGN = { keep = "+", revert = "-" }

--- One line per recent experiment: sign, tag or time, total, reason.
local function recent(records)
  local rows = {}
  for i, record in ipairs(records) do
    local name = record.tag ~= nil and record.tag ~= "" and record.tag or record.ts
    rows[i] = {
      "  " .. (SIGN[record.verdict] or "?"),
      name,
      type(record.total_ms) == "number" and ("%.3f ms"):format(record.total_ms) or "-",
      text.cut(tostring(record.reason or ""), 90),
    }
  end
  return popcorn.report.table({}, rows, "llrl")
end

--- Groups of comparable records, then what could not be read.
function M.show(groups, problems, args)
  for _, problem in ipairs(problems) do
    popcorn.log("popcorn: " .. problem)
  end
  if args.json then
    popcorn.out(popcorn.json.encode({ groups = popcorn.json.list(groups), problems = popcorn.json.list(problems) }))
    return
  end
  if #groups == 0 then
    popcorn.out("no experiments recorded yet; run one with: popcorn loop try rms_norm")
  end
  for _, group in ipairs(groups) do
    local best = group.best
    popcorn.out(("%s  %s, sample %s, %s, %s"):format(
      popcorn.report.style(group.op, "bold"), group.device, group.sample,
      group.grad and "forward and backward" or "forward only", text.plural(group.reps, "rep")))
    popcorn.out(("  %s, %d kept, %s since the last keep, best kept %s"):format(
      text.plural(group.experiments, "experiment"), group.kept, text.plural(group.revert_streak, "revert"),
      best and ("%.3f ms (%s)"):format(best.total_ms, best.tag ~= nil and best.tag ~= "" and best.tag or best.ts) or "-"))
    if #group.recent > 0 then
      popcorn.out(recent(group.recent))
    end
  end
end

return M
