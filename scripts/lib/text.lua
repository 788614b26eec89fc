--- Small pieces of text that several reports share.
local M = {}

--- How near the worst tensor is to its bound: `error 0.42 of bound (grad weight)`.
function M.error_use(tensors)
  local worst, name = -1, nil
  for _, tensor in ipairs(tensors) do
    local use = tensor.max_bound > 0 and tensor.max_err / tensor.max_bound or 0
    if use > worst then
      worst, name = use, tensor.name
    end
  end
  return name and ("error %.2f of bound (%s)"):format(worst, name) or ""
end

--- `word` for one, `words` for any other number.
function M.count(n, word)
  return ("%d %s%s"):format(n, word, n == 1 and "" or "s")
end

--- At most `width` characters of one line.
function M.cut(line, width)
  line = line:gsub("%s+", " ")
  local last = utf8.offset(line, width + 1)
  return last and last <= #line and line:sub(1, utf8.offset(line, width) - 1) .. "…" or line
end

return M
