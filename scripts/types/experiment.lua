---@meta
-- The objects of an experiment, and what a policy is given and returns.

---What every step is told.
---@class popcorn.Settings
---@field device string A device kind.
---@field seed integer Seed of the first draw.
---@field reps integer Draws per case; each is graded and timed.
---@field backward boolean Whether gradients are asked for.
---@field timeout number Seconds that a child process may take.
---@field tolerance { honest_factor: number, floor: table<string, number> }

---Why a case ended early.
---@class popcorn.Fault
---@field status "fail"|"crash"|"oom"|"error"|"hang"
---@field code string A stable word.
---@field reason string One line.
---@field detail string[] The last lines that the child or compiler printed.

---Median and spread over reps, milliseconds per run.
---@class popcorn.Times
---@field median_ms number
---@field q20_ms number
---@field q80_ms number
---@field min_ms number
---@field max_ms number
---@field reps integer

---The inputs of one case, drawn by the judge.
---@class Draws
local Draws = {}

---How long the reference took on the judge's cores: `{ forward, backward?, total_ms }`.
---@return { forward: popcorn.Times, backward: popcorn.Times|nil, total_ms: number }
function Draws:reference_times() end

---What a candidate would do at a case.
---@class Plan
local Plan = {}

---The plan as text: buffers, then numbered nodes.
---@return string
function Plan:render() end

---The plan as data.
---@return table
function Plan:data() end

---The candidate's Lua file, its `.cu` files and the headers that they include; absolute, sorted.
---@return string[]
function Plan:sources() end

---A GPU's timer and clock, measured beside the timed launches.
---@class popcorn.Timer
---@field tick_ns integer Step of the timer.
---@field empty_pair_ns integer Time between two events with nothing between them; part of every sample.
---@field sm_mhz number|nil Mean multiprocessor clock over the timed visit.

---What a launcher left: times, and outputs in the judge's memory.
---@class Run
---@field forward popcorn.Times
---@field backward popcorn.Times|nil
---@field scratch_mb number Peak scratch memory of the plan, megabytes.
---@field timer popcorn.Timer|nil Of a GPU; nil where the host's clock is the timer.
local Run = {}

---One case of an experiment. `status` is `pass` or a fault's.
---@class popcorn.CaseResult
---@field case string
---@field case_id string
---@field status string
---@field code string
---@field reason string
---@field tensors table[] Per output and gradient: name, max_err, max_bound, honest_err, worst, …
---@field forward popcorn.Times|nil
---@field backward popcorn.Times|nil
---@field total_ms number|nil
---@field scratch_mb number|nil
---@field timer popcorn.Timer|nil
---@field ref table|nil
---@field vs table|nil

---What a policy decides on. `champion` is the best comparable kept record, or nil.
---@class popcorn.Experiment
---@field results popcorn.CaseResult[]
---@field total_ms number|nil
---@field champion table|nil

---@class popcorn.Decision
---@field verdict "keep"|"revert"|"inconclusive"|"unstable"
---@field reason string
