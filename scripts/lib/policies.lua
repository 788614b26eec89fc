--- Finding a policy by name or file.
local M = {}

--- A name means scripts/policies/NAME.lua; anything with a slash or ending in .lua is a file.
---@param name string
---@return fun(experiment: popcorn.Experiment): popcorn.Decision
function M.load(name)
  local policy
  if name:find("/", 1, true) or name:find("%.lua$") then
    policy = popcorn.fs.load(name)
  else
    local known = popcorn.fs.list("scripts/policies", ".lua")
    policy = known[name] and require("scripts.policies." .. name)
      or popcorn.fail("usage", popcorn.text.unknown("policy", name, known))
  end
  if type(policy) ~= "function" then
    popcorn.fail("usage", ("policy %s returns a %s; a policy file returns one function(experiment)"):format(name, type(policy)))
  end
  return function(experiment)
    return M.checked(name, policy(experiment))
  end
end

local VERDICTS = { keep = true, revert = true, inconclusive = true, unstable = true }

--- Refuses an answer that is not a decision.
function M.checked(name, decision)
  if type(decision) ~= "table" or not VERDICTS[decision.verdict] or type(decision.reason) ~= "string" then
    popcorn.fail("fault", ("policy %s returned %s; expected { verdict = \"keep\"|\"revert\"|\"inconclusive\"|\"unstable\", reason = \"…\" }")
      :format(name, popcorn.json.encode(decision)))
  end
  return decision
end

return M
