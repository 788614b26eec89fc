---@meta
-- The `popcorn` global of scripts and op files. Reading a name that it does not have raises, with the nearest one.

---@class popcorn
popcorn = {}

---JSON's null: a scalar parameter that is None, a null inside decoded JSON. Not equal to nil.
---@type lightuserdata
popcorn.null = nil

---Writes a line of data to stdout.
---@param line string
function popcorn.out(line) end

---Writes a line of talk to stderr.
---@param line string
function popcorn.log(line) end

---@class popcorn.Error
---@field kind "usage"|"script"|"environment" Whose fault it is: the caller's, a Lua file's, the machine's.
---@field message string One line, `file:line: …` first where there is a place.
---@field detail string The traceback, or a compiler's own words; may be empty.

---Calls `fn(...)`. If it raises, returns nil and the error as a table.
---@generic T
---@param fn fun(...): T
---@param ... any
---@return T|nil
---@return popcorn.Error|nil
function popcorn.try(fn, ...) end

---Ends the script with a one-line cause: exit 2 for `usage`, exit 4 for `fault`.
---@param kind "usage"|"fault"
---@param message string
function popcorn.fail(kind, message) end

---`; did you mean 'x'?` for the nearest known name, or nothing.
---@param name string
---@param known string[]
---@return string
function popcorn.did_you_mean(name, known) end

---Draws the inputs of a case (and, with backward, cotangents) and runs the reference at the case's own dtype.
---@param op Op
---@param case Case
---@param settings popcorn.Settings
---@return Draws|nil
---@return popcorn.Fault|nil
function popcorn.draw(op, case, settings) end

---Calls the candidate on symbolic tensors in a process of its own and returns what it would do.
---@param candidate Candidate
---@param op Op
---@param case Case
---@param settings popcorn.Settings
---@return Plan|nil
---@return popcorn.Fault|nil
function popcorn.plan(candidate, op, case, settings) end

---Runs and times a plan in a fresh process.
---@param plan Plan
---@param draws Draws
---@param settings popcorn.Settings
---@return Run|nil
---@return popcorn.Fault|nil
function popcorn.launch(plan, draws, settings) end

---Compares what the timed launches wrote with fp64 truth: `{ status, code, reason, tensors }`.
---@param draws Draws
---@param run Run
---@param tolerance { honest_factor: number, floor: table<string, number> }
---@return { status: string, code: string, reason: string, tensors: table[] }
function popcorn.grade(draws, run, tolerance) end
