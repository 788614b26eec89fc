---@meta
-- Exit codes by name.

---@class popcorn.exit
popcorn.exit = {}

---KEEP, or success: 0.
popcorn.exit.keep = 0
---REVERT, or a check that found a fault: 1.
popcorn.exit.revert = 1
---The command line asks for what does not exist: 2.
popcorn.exit.usage = 2
---Unstable or inconclusive: 3.
popcorn.exit.no_verdict = 3
---The environment, an op or popcorn itself is at fault: 4.
popcorn.exit.fault = 4
