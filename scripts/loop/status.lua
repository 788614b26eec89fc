--- popcorn loop status [OP…]: what the records say, never mixing contracts, samples, devices, modes or repetitions.
local args = ...
local history = require("scripts.lib.history")
local report = require("scripts.lib.status_report")

--- The log files to read: the one named, else one per op.
local function logs()
  if args.log then
    return { args.log }
  end
  local paths = {}
  for i, name in ipairs(#args.ops > 0 and args.ops or popcorn.ledger.ops()) do
    popcorn.op.load(name)
    paths[i] = popcorn.ledger.path(name)
  end
  return paths
end

local groups, order, problems = {}, {}, {}
for _, path in ipairs(logs()) do
  local log = popcorn.ledger.read(path)
  for _, problem in ipairs(log.problems) do
    problems[#problems + 1] = path .. ": " .. problem
  end
  for _, record in ipairs(log.entries) do
    local wanted = not args.log or #args.ops == 0
    for _, name in ipairs(args.ops) do
      wanted = wanted or record.op == name
    end
    if wanted then
      local key = record.op .. " " .. history.group(record)
      if not groups[key] then
        groups[key] = {}
        order[#order + 1] = key
      end
      table.insert(groups[key], record)
    end
  end
end

local shown = {}
for i, key in ipairs(order) do
  local records = groups[key]
  local summary = history.summary(records)
  local first = records[1]
  for _, name in ipairs({ "op", "device", "sample", "grad", "reps", "contract" }) do
    summary[name] = first[name]
  end
  summary.recent = table.move(records, math.max(1, #records - args.last + 1), #records, 1, {})
  shown[i] = summary
end
report.show(shown, problems, args)
return popcorn.exit.keep
