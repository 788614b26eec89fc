---@meta
-- Record files: one JSON line per experiment.

---@class popcorn.ledger
popcorn.ledger = {}

---The record file of an op, or `log` if that is given.
---@param op string
---@param log? string
---@return string
function popcorn.ledger.path(op, log) end

---Ops with a record file in the cache, sorted.
---@return string[]
function popcorn.ledger.ops() end

---Raises unless the file can be written (it is created if need be).
---@param path string
function popcorn.ledger.check_writable(path) end

---Appends one record under a lock: all of its line or nothing.
---@param path string
---@param record table
function popcorn.ledger.append(path, record) end

---Every readable record, oldest first, with its `line`; a line that cannot be read is a problem, never an error.
---@param path string
---@return { entries: table[], problems: string[] }
function popcorn.ledger.read(path) end
