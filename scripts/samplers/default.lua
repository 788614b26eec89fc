-- The default sampler: a pure function (op, n, device) -> cases. The same arguments give the same cases, and the first
-- n cases of a longer sample are the sample of n.
--
-- Many points of the op's grid are proposed; those that the device cannot hold, or run in good time, are dropped. Each
-- case then takes a target size between the smallest and the largest that is left, and picks the proposal that is
-- nearest, prefers extents no earlier case has, and is in turn close to production shapes and off every tile border.
-- Dtypes, arguments and optional tensors take turns, so that few cases meet all of them.
local cost = require "scripts.lib.cost"
local dims = require "scripts.lib.dims"

-- Looked at, and kept at most.
local SCATTER, PROPOSALS = 6000, 1000

-- The most a case may take. `elements`: of its largest tensor. `total`: of all its tensors. `flops`: of one forward
-- pass. `truth`: of all intermediates of the float64 reference and its gradients. `steps`: of its loop over tokens.
-- On the cpu device they keep a case (five draws, both passes, truth) well under a second; on cuda, truth stays under
-- 40 GB.
local LIMITS = {
  cpu = { elements = 2 ^ 18, total = 2 ^ 20, flops = 2 ^ 25, truth = 2 ^ 26, steps = 2 ^ 10 },
  cuda = { elements = 2 ^ 26, total = 2 ^ 28, flops = 2 ^ 40, truth = 40e9 / 8, steps = 2 ^ 13 },
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

-- Arguments of case i, by name, each from its pool.
local function arguments(op, i)
  local args = {}
  for axis, scalar in ipairs(op.scalars) do args[scalar.name] = turn(scalar.values, i, axis - 1) end
  return args
end

local function copy(list)
  local result = {}
  for name, value in pairs(list) do result[name] = value end
  return result
end

-- A point with its arguments, made to agree; nil where the op is not defined.
local function case_of(op, point, args, dtype, present)
  local extents, values = dims.repair(copy(point.dims), copy(args))
  return op:try_case { dims = extents, batch = point.batch, dtype = dtype, args = values, present = present }
end

-- The size of a case, if the device can take it: log2 of all its elements.
local function fitting(op, case, device, limits)
  local size = op:size(case)
  if size.total == 0 or size.largest > limits.elements or size.total > limits.total then return nil end
  if size.total * 4 * COPIES > device.memory_bytes then return nil end
  local truth = cost.truth(op, case, size)
  if truth.elements > limits.truth or truth.elements * 8 > device.memory_bytes or truth.steps > limits.steps then
    return nil
  end
  return op:flops(case) <= limits.flops and math.log(size.total, 2) or nil
end

-- The points of the grid that the op and the device can take: all points are looked at if they are few, else a fixed
-- scatter.
local function proposals(op, device)
  local limits = LIMITS[device.kind] or error(("no limits for device '%s'"):format(device.kind))
  local axes, total = {}, 1
  for i, name in ipairs(op.dims) do axes[i] = { name = name, pool = dims.pool(name) } end
  if op.has_batch then axes[#axes + 1] = { pool = dims.leading } end
  for _, axis in ipairs(axes) do
    -- Longer sequences than any tensor may have elements are out of the question.
    local pool = {}
    for _, value in ipairs(axis.pool) do
      if type(value) ~= "number" or value <= limits.elements then pool[#pool + 1] = value end
    end
    axis.pool, total = pool, total * #pool
  end

  local found, seen, defaults = {}, {}, arguments(op, 0)
  for i = 1, math.min(total, SCATTER) do
    local point, rest = { dims = {}, batch = {} }, i - 1
    for k, axis in ipairs(axes) do
      local index = total <= SCATTER and rest % #axis.pool or hash(i, k) % #axis.pool
      rest = rest // #axis.pool
      if axis.name then point.dims[axis.name] = axis.pool[index + 1] else point.batch = axis.pool[index + 1] end
    end
    dims.repair(point.dims, copy(defaults))
    local case = case_of(op, point, defaults, "float32", {})
    local size = case and not seen[case.id] and fitting(op, case, device, limits)
    if size then
      seen[case.id] = true
      point.size = size
      found[#found + 1] = point
      if #found == PROPOSALS then break end
    end
  end
  return found
end

local function leading(point)
  local rows = 1
  for _, extent in ipairs(point.batch) do rows = rows * extent end
  return rows
end

-- For odd cases: the share of extents that are multiples of 8.
local function evenness(point)
  local count, even = 0, 0
  for _, extent in pairs(point.dims) do
    count = count + 1
    if extent % 8 == 0 then even = even + 1 end
  end
  return even / math.max(count, 1)
end

-- For round cases: how far the extents are from production, as a mean square of powers of 16.
local function remoteness(point, op)
  local count, distance = 0, 0
  local function add(name, extent)
    local anchor = dims.production[name]
    if anchor then
      local weight = dims.weight[name] or 1
      count = count + weight
      distance = distance + weight * math.log(math.max(extent, 1) / anchor, 16) ^ 2
    end
  end
  for name, extent in pairs(point.dims) do add(name, extent) end
  if op.has_batch then add("leading", leading(point)) end
  return distance / math.max(count, 1)
end

-- Pairs of dims with the same extent: a kernel that mixes them up would pass.
local function ties(point)
  local count = 0
  for a, x in pairs(point.dims) do
    for b, y in pairs(point.dims) do
      if a < b and x == y and dims.tied[a] ~= b and dims.tied[b] ~= a then count = count + 1 end
    end
  end
  return count
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

-- Points by how well they suit case i, best first.
local function ranked(op, points, i, low, high, used, taken)
  local share = TARGETS[i + 1] or van_der_corput(i)
  local target = low + share * (high - low)
  local order = {}
  for k, point in ipairs(points) do
    if not taken[k] then
      local shape = i % 2 == 1 and evenness(point) or remoteness(point, op)
      -- Within a factor of about 1.4 of its target, a size is as good as any.
      local distance = math.max(math.abs(point.size - target) - 0.5, 0)
      order[#order + 1] = { k = k, score = distance + shape + (reuse(point, used) + ties(point)) / 2 }
    end
  end
  table.sort(order, function(a, b)
    if a.score ~= b.score then return a.score < b.score end
    return a.k < b.k
  end)
  return order
end

return function(op, n, device)
  local points = proposals(op, device)
  if #points == 0 then error(("no case of %s fits %s within the sampler's limits"):format(op.name, device.kind)) end
  local low, high = math.huge, -math.huge
  for _, point in ipairs(points) do low, high = math.min(low, point.size), math.max(high, point.size) end

  local cases, used, taken = {}, {}, {}
  for i = 0, n - 1 do
    local args, present = arguments(op, i), {}
    for axis, name in ipairs(op.optional) do
      if turn({ false, true }, i, #op.scalars + axis - 1) then table.insert(present, name) end
    end
    -- The best point on which the op takes these arguments.
    local case
    for _, candidate in ipairs(ranked(op, points, i, low, high, used, taken)) do
      case = case_of(op, points[candidate.k], args, DTYPES[i % #DTYPES + 1], present)
      if case then
        taken[candidate.k] = true
        remember(points[candidate.k], used)
        break
      end
    end
    if not case then break end
    cases[#cases + 1] = case
  end
  return cases
end
