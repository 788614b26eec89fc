---@meta
-- Tables, colour and progress.

---@class popcorn.report
popcorn.report = {}

---Aligned columns, two blanks apart. `align` has one letter per column: `l` or `r`.
---@param header string[] May be empty.
---@param rows string[][]
---@param align? string
---@return string
function popcorn.report.table(header, rows, align) end

---`text` in colour where stdout is a terminal and NO_COLOR is not set, else as it is.
---@param text string
---@param style "good"|"bad"|"warning"|"dim"|"bold"
---@return string
function popcorn.report.style(text, style) end

---Shows what is being done, on stderr if that is a terminal; nil takes the line away.
---@param message? string
function popcorn.report.progress(message) end
