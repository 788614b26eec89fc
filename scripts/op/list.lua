-- popcorn op list [--tag TAG] [--json]: ops by their first tag; with --tag, those that have it among their tags.
local args = ... or {}
local text = require "scripts.lib.text"

local function has(list, wanted)
  for _, value in ipairs(list) do
    if value == wanted then return true end
  end
  return false
end

local groups, order, broken, all, tags = {}, {}, {}, {}, {}
for _, name in ipairs(popcorn.op.names()) do
  local op, err = popcorn.try(popcorn.op.load, name)
  if op then
    for _, tag in ipairs(op.tags) do
      if not has(tags, tag) then tags[#tags + 1] = tag end
    end
  end
  if op and (not args.tag or has(op.tags, args.tag)) then
    local tag = op.tags[1] or "other"
    if not groups[tag] then
      groups[tag] = {}
      order[#order + 1] = tag
    end
    local impls = {}
    for impl in pairs(op.impls) do impls[#impls + 1] = impl end
    table.sort(impls)
    local params = {}
    for i, param in ipairs(op.params) do params[i] = param.name .. (param.optional and "?" or "") end
    table.insert(groups[tag], { "  " .. name, table.concat(impls, " "), table.concat(params, ", ") })
    all[#all + 1] = {
      name = name,
      summary = op.summary,
      tags = popcorn.json.list(op.tags),
      params = popcorn.json.list(params),
      impls = popcorn.json.list(impls),
    }
  elseif not op then
    broken[#broken + 1] = err.message
  end
end
if args.tag and not has(tags, args.tag) then
  table.sort(tags)
  local near = popcorn.did_you_mean(args.tag, tags)
  popcorn.fail("usage", ("no op has the tag '%s'%s; tags: %s"):format(args.tag, near, table.concat(tags, ", ")))
end

if args.json then
  popcorn.out(popcorn.json.encode { ops = popcorn.json.list(all), broken = popcorn.json.list(broken) })
else
  table.sort(order)
  local rows = { { "op", "implementations", "parameters" } }
  for _, tag in ipairs(order) do
    rows[#rows + 1] = { ("%s (%d)"):format(tag, #groups[tag]) }
    for _, row in ipairs(groups[tag]) do rows[#rows + 1] = row end
  end
  for _, line in ipairs(text.columns(rows)) do popcorn.out(line) end
  popcorn.out(text.plural(#all, "op"))
end
for _, message in ipairs(broken) do popcorn.log(message) end
return #broken == 0 and 0 or 4
