-- Runs once in the trusted VM, before any script. Receives Rust helpers, returns what Rust needs back.
local require, suggest, overrun, raise = ...

-- A budget that has run out must not be caught: pcall, xpcall and coroutines pass it on.
local function guarded(call)
  local function check(...)
    local late = overrun()
    if late then raise(late) end
    return ...
  end
  return function(...) return check(call(...)) end
end
pcall, xpcall = guarded(pcall), guarded(xpcall)
coroutine.resume, coroutine.close = guarded(coroutine.resume), guarded(coroutine.close)

-- Lua runs finalizers without hooks, so an endless one could not be stopped.
local set_metatable = setmetatable
function setmetatable(value, metatable)
  if type(metatable) == "table" and rawget(metatable, "__gc") ~= nil then
    error("setmetatable: __gc is not available; use a local variable with <close>", 2)
  end
  return set_metatable(value, metatable)
end

-- Source text only: precompiled chunks can crash the VM. Files come through require.
local load_chunk = load
function load(chunk, name, _, ...) return load_chunk(chunk, name, "t", ...) end
loadfile, dofile, string.dump, package = nil, nil, nil, nil
_G.require = require

-- A read-only view of a table in which an unknown name is an error instead of nil.
local function sealed(name, fields)
  return setmetatable({}, {
    __index = function(_, key)
      local value = rawget(fields, key)
      if value == nil then
        error(("%s has no field '%s'%s"):format(name, tostring(key), suggest(key, fields)), 2)
      end
      return value
    end,
    __newindex = function(_, key)
      error(("%s.%s cannot be assigned: the API is read-only"):format(name, tostring(key)), 2)
    end,
    __pairs = function() return next, fields, nil end,
    __name = name,
  })
end

-- A plain table in which an unknown name is an error; one metatable for all tables of a name, so that it is cheap.
local strict_metatables = {}
local function strict(name, fields)
  local metatable = strict_metatables[name]
  if not metatable then
    metatable = {
      __index = function(self, key)
        error(("%s has no field '%s'%s"):format(name, tostring(key), suggest(key, self)), 2)
      end,
    }
    strict_metatables[name] = metatable
  end
  return set_metatable(fields, metatable)
end

-- Globals are fixed: a misspelt local fails where it stands.
local function seal_globals()
  setmetatable(_G, {
    __index = function(_, key)
      error(("undefined global '%s'%s"):format(tostring(key), suggest(key, _G)), 2)
    end,
    __newindex = function(_, key)
      error(("assignment to undefined global '%s'; write 'local %s'"):format(tostring(key), tostring(key)), 2)
    end,
  })
end

return sealed, strict, seal_globals
