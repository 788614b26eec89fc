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
