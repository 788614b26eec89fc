---@meta
-- Other Lua files.

---@class popcorn.script
popcorn.script = {}

---Runs a Lua file on disk and returns its value. A file that is not there is a usage error.
---@param path string
---@return any
function popcorn.script.load(path) end

---Names (without `.lua`) of the Lua files in a workspace folder such as `scripts/policies`, built-in ones included.
---@param folder string
---@return string[]
function popcorn.script.list(folder) end

---First 12 hex digits of the sha256 over workspace files and all that they have required so far.
---@param names string[] Such as `ops/rms_norm.lua`.
---@return string
function popcorn.script.hash(names) end
