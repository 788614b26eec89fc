--- popcorn loop try OP: one experiment, from the candidate's files to a verdict, an exit code and a record.
local args = ...
local experiment = require("scripts.lib.experiment")
local history = require("scripts.lib.history")
local policies = require("scripts.lib.policies")
local report = require("scripts.lib.try_report")
local sampler = require("scripts.samplers.default")
local tolerances = require("scripts.lib.tolerances")

local decide = policies.load(args.policy)
local op = popcorn.op.load(args.op)
local device = popcorn.device.open(args.device)
local cases = #args.case > 0 and experiment.cases(op, args.case) or sampler(op, args.cases, device)
local candidate = popcorn.candidate.open(op, args.implementation or "popcorn")
local rival = args.vs and popcorn.candidate.open(op, args.vs)
local settings = {
  device = device.id,
  seed = args.seed,
  reps = args.reps,
  backward = not args.forward_only and #op:signature(cases[1]).grads > 0,
  timeout = args.timeout,
  tolerance = tolerances.of(op),
}

if args.show_plan then
  return report.plans(op, cases, candidate, settings, args.json)
end

local log = popcorn.ledger.path(op.name, args.log)
popcorn.ledger.check_writable(log)
report.begin(op, cases, candidate, settings, args.json)
local results = {}
for i, case in ipairs(cases) do
  popcorn.report.progress(("case %d of %d: %s"):format(i, #cases, case.text))
  results[i] = experiment.run(op, case, candidate, rival, settings)
  popcorn.report.progress()
  report.case(results[i], args.json)
end

local record = history.record(op, candidate, rival, cases, results, settings, args, device)
local past = history.comparable(popcorn.ledger.read(log), record)
local decision = experiment.faulty(results) or decide({
  results = results,
  total_ms = record.total_ms,
  champion = history.champion(past),
})
record.verdict, record.reason = decision.verdict, decision.reason
popcorn.ledger.append(log, record)
report.verdict(record, log, args.json)
return popcorn.exit[({ keep = "keep", revert = "revert", none = "fault" })[record.verdict] or "no_verdict"]
