---@meta

---@class popcorn.json
popcorn.json = {}

---JSON text with sorted keys. NaN, infinities, functions and tables that are neither lists nor objects raise, with the
---path. An empty table is `{}` unless marked with `popcorn.json.list`.
---@param value any
---@return string
function popcorn.json.encode(value) end

---The value of JSON text: lists are marked as such, null is `popcorn.null`.
---@param text string
---@return any
function popcorn.json.decode(text) end

---Marks a table as a list, so that it encodes as `[]` when empty. Returns the table.
---@generic T: table
---@param table T
---@return T
function popcorn.json.list(table) end
