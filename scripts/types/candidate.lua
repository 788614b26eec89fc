---@meta
-- What is being tried, as files.

---@class popcorn.candidate
popcorn.candidate = {}

---A registered implementation of the op by name, or a Lua file (with a slash, or ending in `.lua`).
---@param op Op
---@param implementation string
---@return Candidate
function popcorn.candidate.open(op, implementation) end

---@class Candidate
---@field name string The registered name, or the path as it was given.
---@field path string Absolute path of the Lua file.
---@field shown string The path for people.
local Candidate = {}

---First 12 hex digits of the sha256 over source files, by name and content.
---@param sources string[]
---@return string
function Candidate:hash(sources) end

---Commit of the work tree that holds the sources and whether they differ from it; nil outside a repository.
---@param sources string[]
---@return { commit: string, dirty: boolean }|nil
function Candidate:git(sources) end
