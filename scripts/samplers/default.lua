-- The default sampler: a pure function (op, n, device) -> cases. The same arguments give the same cases, and the first
-- n cases of a longer sample are the sample of n.
--
-- Many points of the op's grid are proposed; those that the device cannot hold, or run in good time, are dropped. Each
-- case then takes a target size between the smallest and the largest that is left, and picks the proposal that is
-- nearest, prefers extents no earlier case has, and is in turn round (production-like) and odd (off every tile border).
-- Dtypes, arguments and optional tensors take turns, so that few cases meet all of them.
local dims = require "scripts.lib.dims"

local PROPOSALS = 1500

-- The most a case may take. `elements`: of its largest tensor. `total`: of all its tensors. `flops`: of one forward
-- pass. On the cpu device they keep a case (five draws, both passes, truth) well under a second.
local LIMITS = {
  cpu = { elements = 2 ^ 18, total = 2 ^ 20, flops = 2 ^ 25 },
  cuda = { elements = 2 ^ 26, total = 2 ^ 28, flops = 2 ^ 40 },
}

-- Draws, their gradients and cotangents, outputs and scratch, beside each other in device memory.
local COPIES = 16

local DTYPES = { "bfloat16", "float32", "float16" }

-- Sizes of the first cases between smallest (0) and largest (1); later ones fill the gaps.
local TARGETS = { 1, 0.2, 0.6, 0.4, 0.8 }

-- A fixed hash of two small integers to 0..2^31-1.
local function hash(i, axis)
  local h = (i * 0x9E3779B1 + axis * 0x85EBCA77) & 0xFFFFFFFF
  h = ((h ~ (h >> 15)) * 0x2C1B3C6D) & 0xFFFFFFFF
  h = ((h ~ (h >> 12)) * 0x297A2D39) & 0xFFFFFFFF
  return (h ~ (h >> 15)) >> 1
end

local function pick(list, i, axis) return list[hash(i, axis) % #list + 1] end

-- 1/2, 1/4, 3/4, 1/8, …
local function van_der_corput(i)
  local value, step = 0, 0.5
  while i > 0 do
    value, i, step = value + (i & 1) * step, i >> 1, step / 2
  end
  return value
end

-- Value of the axis-th list for case i: lists of equal length are not in step with each other.
local function turn(list, i, axis)
  return list[(i + axis * (i // #list)) % #list + 1]
end

local function proposals(op, device)
  local limits = LIMITS[device.kind] or error(("no limits for device '%s'"):format(device.kind))
  local found, seen = {}, {}
  for i = 1, PROPOSALS do
    local point = { dims = {}, batch = op.has_batch and pick(dims.leading, i, 0) or {} }
    for axis, name in ipairs(op.dims) do point.dims[name] = pick(dims.pool(name), i, axis) end
    dims.repair(point.dims)
    local case = op:try_case { dims = point.dims, batch = point.batch, dtype = "float32" }
    if case and not seen[case.id] then
      seen[case.id] = true
      local size = op:size(case)
      local fits = size.largest <= limits.elements
        and size.total <= limits.total
        and op:flops(case) <= limits.flops
        and size.total * 4 * COPIES <= device.memory_bytes
      if fits and size.total > 0 then
        point.size = math.log(size.total, 2)
        found[#found + 1] = point
      end
    end
  end
  return found
end

-- How far from round (or from odd) the extents are, 0 to 1.
local function mismatch(point, odd)
  local count, wrong = 0, 0
  for _, extent in pairs(point.dims) do
    count = count + 1
    if (extent % 8 ~= 0) ~= odd then wrong = wrong + 1 end
  end
  return count == 0 and 0 or wrong / count
end

local function reuse(point, used)
  local count = used[table.concat(point.batch, "x")] or 0
  for name, extent in pairs(point.dims) do count = count + (used[name .. "=" .. extent] or 0) end
  return count
end

local function remember(point, used)
  local batch = table.concat(point.batch, "x")
  used[batch] = (used[batch] or 0) + 1
  for name, extent in pairs(point.dims) do
    local key = name .. "=" .. extent
    used[key] = (used[key] or 0) + 1
  end
end

return function(op, n, device)
  local points = proposals(op, device)
  if #points == 0 then error(("no case of %s fits %s within the sampler's limits"):format(op.name, device.kind)) end
  local low, high = math.huge, -math.huge
  for _, point in ipairs(points) do low, high = math.min(low, point.size), math.max(high, point.size) end

  local cases, used, taken = {}, {}, {}
  for i = 0, n - 1 do
    local share = TARGETS[i + 1] or van_der_corput(i)
    local target = low + share * (high - low)
    local best, best_score = nil, math.huge
    for k, point in ipairs(points) do
      local score = math.abs(point.size - target) + mismatch(point, i % 2 == 1) + reuse(point, used) / 2
      if not taken[k] and score < best_score then best, best_score = k, score end
    end
    if not best then break end
    taken[best] = true
    local point = points[best]
    remember(point, used)

    local case = { dims = point.dims, batch = point.batch, dtype = DTYPES[i % #DTYPES + 1], args = {}, present = {} }
    for axis, scalar in ipairs(op.scalars) do case.args[scalar.name] = turn(scalar.values, i, axis - 1) end
    for axis, name in ipairs(op.optional) do
      if turn({ false, true }, i, #op.scalars + axis - 1) then table.insert(case.present, name) end
    end
    cases[#cases + 1] = op:case(case)
  end
  return cases
end
