--- Records: how an experiment becomes one, which earlier ones it may be compared with, and what they add up to.
local M = {}

--- Two records are comparable when all of these agree.
local KEY = { "contract", "sample", "device", "grad", "reps" }

--- The sum of a field over results, or nil when one of them lacks it.
local function total(results, get)
  local sum = 0
  for _, result in ipairs(results) do
    local value = get(result)
    if not value then
      return nil
    end
    sum = sum + value
  end
  return sum
end

--- The record of an experiment, all but its verdict.
function M.record(op, candidate, rival, cases, results, settings, args, device)
  local sources = {}
  for _, result in ipairs(results) do
    for _, path in ipairs(result.sources or { candidate.path }) do
      sources[path] = true
    end
    result.sources = nil
  end
  local paths = {}
  for path in pairs(sources) do
    paths[#paths + 1] = path
  end
  return {
    v = 4,
    ts = popcorn.time.utc(),
    op = op.name,
    impl = candidate.name,
    impl_hash = candidate:hash(paths),
    contract = popcorn.script.hash({ op.file, "scripts/tolerances.lua", "scripts/samplers/default.lua" }),
    device = device.name,
    grad = settings.backward,
    sample = popcorn.case.sample_id(cases),
    reps = settings.reps,
    seed = settings.seed,
    tag = args.tag,
    note = args.note,
    git = candidate:git(paths),
    total_ms = total(results, function(r) return r.status == "pass" and r.total_ms end),
    ref_total_ms = total(results, function(r) return r.ref and r.ref.total_ms end),
    vs = rival and rival.name,
    vs_total_ms = rival and total(results, function(r) return r.vs and r.vs.status == "pass" and r.vs.total_ms end),
    policy = args.policy,
    results = results,
    env = device.env,
  }
end

--- The key of the group that a record belongs to. The Python tool's lines have no contract.
function M.group(record)
  local key = {}
  for i, name in ipairs(KEY) do
    key[i] = tostring(record[name])
  end
  return table.concat(key, " ")
end

--- The records of `log` that `record` may be compared with, oldest first.
function M.comparable(log, record)
  local group, list = M.group(record), {}
  for _, entry in ipairs(log.entries) do
    if M.group(entry) == group and entry.impl ~= nil then
      list[#list + 1] = entry
    end
  end
  return list
end

--- The kept record with the least total, or nil.
function M.champion(records)
  local best
  for _, record in ipairs(records) do
    if record.verdict == "keep" and record.total_ms and (not best or record.total_ms < best.total_ms) then
      best = record
    end
  end
  return best
end

--- What a group of records adds up to. The revert streak counts the experiments since the last keep.
function M.summary(records)
  local kept, streak = 0, 0
  for _, record in ipairs(records) do
    if record.verdict == "keep" then
      kept, streak = kept + 1, 0
    elseif record.verdict == "revert" then
      streak = streak + 1
    end
  end
  return { experiments = #records, kept = kept, revert_streak = streak, best = M.champion(records) }
end

return M
