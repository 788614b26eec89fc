-- Plain-text tables and numbers for people.
local M = {}

-- Lines of left-aligned columns, two blanks apart; the last column is as long as it likes.
function M.columns(rows)
  local widths = {}
  for _, row in ipairs(rows) do
    for i, cell in ipairs(row) do widths[i] = math.max(widths[i] or 0, utf8.len(cell) or #cell) end
  end
  local lines = {}
  for _, row in ipairs(rows) do
    local cells = {}
    for i, cell in ipairs(row) do
      local pad = i < #row and (" "):rep(widths[i] - (utf8.len(cell) or #cell)) or ""
      cells[i] = cell .. pad
    end
    lines[#lines + 1] = (table.concat(cells, "  "):gsub("%s+$", ""))
  end
  return lines
end

-- 1536 -> "1.5 KiB".
function M.bytes(n)
  local units = { "B", "KiB", "MiB", "GiB", "TiB" }
  local i = 1
  while n >= 1024 and i < #units do n, i = n / 1024, i + 1 end
  return i == 1 and ("%d B"):format(n) or ("%.1f %s"):format(n, units[i])
end

-- 2500000 -> "2.50 M".
function M.count(n)
  local units = { "", " k", " M", " G", " T" }
  local i = 1
  while n >= 1000 and i < #units do n, i = n / 1000, i + 1 end
  return i == 1 and ("%d"):format(n) or ("%.2f%s"):format(n, units[i])
end

-- Words with blanks, and no word at all, in quotes.
function M.quoted(word)
  return word:match("^%S+$") and word or ("%q"):format(word)
end

-- One parameter as a signature shows it: `bias?: float[hidden]`, `eps = 1e-06`.
function M.param(param)
  if param.kind == "scalar" then return ("%s = %s"):format(param.name, M.quoted(param.texts[1])) end
  return ("%s%s: %s"):format(param.name, param.optional and "?" or "", param.type)
end

-- How near the worst tensor is to its bound: `error 0.42 of bound (grad weight)`.
function M.error_use(tensors)
  local worst, name = -1, nil
  for _, tensor in ipairs(tensors) do
    local use = tensor.max_bound > 0 and tensor.max_err / tensor.max_bound or 0
    if use > worst then worst, name = use, tensor.name end
  end
  return name and ("error %.2f of bound (%s)"):format(worst, name) or ""
end

-- `1 word`, `2 words`.
function M.plural(n, word) return ("%d %s%s"):format(n, word, n == 1 and "" or "s") end

-- At most `width` characters of one line.
function M.cut(line, width)
  line = line:gsub("%s+", " ")
  local last = utf8.offset(line, width + 1)
  return last and last <= #line and line:sub(1, utf8.offset(line, width) - 1) .. "…" or line
end

return M
