---@meta
-- What cases run on.

---@class popcorn.device
popcorn.device = {}

---@class popcorn.Device
---@field id string `cpu` or `cuda:N`: what settings call it.
---@field kind string `cpu` or `cuda`: what limits call it.
---@field name string Model name, as records show it.
---@field memory_bytes integer
---@field processors integer Cores or multiprocessors that run blocks.
---@field env table What may change a time without a change of the candidate.

---Describes the device that a `--device` name stands for; an unknown name is a usage error.
---@param name string
---@return popcorn.Device
function popcorn.device.open(name) end
