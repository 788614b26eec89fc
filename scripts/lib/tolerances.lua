--- The tolerance table of one op: the project's defaults with the op's overrides on top.
local defaults = require("scripts.tolerances")

local M = {}

---@return { honest_factor: number, floor: table<string, number> }
function M.of(op)
  local floor = {}
  for dtype, value in pairs(defaults.floor) do
    floor[dtype] = op.tolerance[dtype] or value
  end
  return { honest_factor = defaults.honest_factor, floor = floor }
end

return M
