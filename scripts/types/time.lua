---@meta
-- The clock of records.

---@class popcorn.time
popcorn.time = {}

---Now, in UTC: `2026-12-01T12:00:00Z`.
---@return string
function popcorn.time.utc() end
