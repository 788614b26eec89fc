---@meta

---@class popcorn.safetensors
popcorn.safetensors = {}

---Reads a safetensors file.
---@param path string
---@return table<string, Tensor> tensors
---@return table<string, string> metadata
function popcorn.safetensors.read(path) end
