--- Finding a policy by name or file, and holding it to its contract.
local M = {}

local VERDICTS = { keep = true, revert = true, inconclusive = true, unstable = true }

--- Refuses an answer that is not a decision.
local function checked(name, decision)
  if type(decision) ~= "table" or not VERDICTS[decision.verdict] or type(decision.reason) ~= "string" then
    local got = popcorn.try(popcorn.json.encode, decision) or type(decision)
    popcorn.fail("fault", ('policy %s returned %s; expected { verdict = "keep"|"revert"|"inconclusive"|"unstable", reason = "…" }')
      :format(name, got))
  end
  return decision
end

--- A name means scripts/policies/NAME.lua; anything with a slash or ending in .lua is a file.
---@param name string
---@return fun(experiment: popcorn.Experiment): popcorn.Decision
function M.load(name)
  local policy
  if name:find("/", 1, true) or name:find("%.lua$") then
    policy = popcorn.script.load(name)
  else
    local known, found = popcorn.script.list("scripts/policies"), false
    for _, other in ipairs(known) do
      found = found or other == name
    end
    if not found then
      popcorn.fail("usage", ("no policy '%s'%s; known: %s"):format(name, popcorn.did_you_mean(name, known), table.concat(known, ", ")))
    end
    policy = require("scripts.policies." .. name)
  end
  if type(policy) ~= "function" then
    popcorn.fail("usage", ("policy %s is a %s; a policy file returns one function(experiment)"):format(name, type(policy)))
  end
  return function(experiment)
    return checked(name, policy(experiment))
  end
end

return M
