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

---Writes a new file of the workspace and returns its path. A name that is taken, also by a built-in file, is a usage
---error; nothing is overwritten.
---@param name string Such as `ops/my_op.lua`.
---@param text string
---@return string
function popcorn.script.create(name, text) end

---First 12 hex digits of the sha256 over workspace files and all that they have required so far.
---@param names string[] Such as `ops/rms_norm.lua`.
---@return string
function popcorn.script.hash(names) end
