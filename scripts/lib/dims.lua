-- Extents that dims take, by name: production shapes of language models, and the odd sizes next to tile borders
-- that break kernels. A name that is not here gets `other`.
local M = {}

local tokens_like = { 2, 3, 8, 9, 16, 17, 33, 37, 64, 65, 128, 129, 161, 256, 512, 697, 1024, 1447, 1448, 1449,
  2048, 3010, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576 }
local first = { 9, 16, 64, 128 }
local heads = { 1, 2, 4, 6, 8, 12, 16, 18, 20, 24, 28, 32, 36, 40, 48, 64, 72, 80, 96, 128 }
local head_dim = { 16, 32, 48, 64, 80, 96, 128, 192, 256 }
local block_size = { 16, 32, 64, 128, 256 }
local hidden_like = { 8, 16, 17, 21, 33, 57, 64, 65, 128, 129, 150, 256, 400, 512, 768, 1024, 1536, 2048, 2560,
  3072, 4096, 5120, 6144, 8192, 10240, 12288, 14336, 16384, 18432, 22016, 24576, 28672, 32768, 53248 }

M.pools = {
  batch = { 1, 2, 4, 8, 16, 32, 64 },
  seq = tokens_like,
  tokens = tokens_like,
  total = tokens_like,
  boundaries = { 2, 3, 4, 8, 16, 17, 33, 65, 129, 257, 513, 1025 },
  first = first,
  second = first,
  heads = heads,
  q_heads = heads,
  kv_heads = { 1, 2, 4, 8, 16, 32, 40, 64, 128 },
  head_dim = head_dim,
  key_dim = head_dim,
  value_dim = head_dim,
  blocks = { 1, 2, 4, 8, 16, 32 },
  block_size = block_size,
  slots = block_size,
  levels = { 4, 5, 6, 7, 8, 10, 12, 16 },
  gate_dim = { 32, 64, 128, 256, 512, 1024, 2048, 4096 },
  cos_batch = { 1, 2, 4, 8 },
  half = { 8, 16, 32, 40, 48, 64, 96, 128 },
  hidden = hidden_like,
  intermediate = hidden_like,
  out_features = hidden_like,
  normalized_shape = hidden_like,
  channels = hidden_like,
  target_hidden = hidden_like,
  teacher_hidden = hidden_like,
  hadamard_dim = { 256, 512, 1024, 2048, 4096, 8192, 16384, 32768 },
  embedding_dim = { 64, 128, 256, 512, 768, 1024, 2048, 4096 },
  vocab = { 2, 3, 7, 8, 16, 17, 27, 33, 64, 65, 101, 128, 129, 256, 372, 512, 715, 716, 717, 1024, 1375, 2048,
    4096, 32000, 32768, 50257, 50304, 128256, 151936, 152064, 256000 },
  out_channels = { 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096 },
  width = { 8, 16, 32, 64, 128, 256, 512, 1024 },
  kernel_size = { 1, 3, 5, 7, 9, 11 },
  experts = { 1, 2, 4, 8, 16, 32, 60, 64, 128, 160, 256 },
  rows = { 1, 2, 3, 8, 16, 17, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192 },
  cols = { 1, 2, 3, 8, 16, 19, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192 },
  inner = { 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192 },
  response = { 15, 31, 63, 127, 255, 511, 1023, 2047, 4095, 8191 },
}

-- For a dim that an op of your own introduces.
M.other = { 1, 2, 3, 8, 17, 32, 64, 65, 128, 256, 512, 1024, 1000, 4096 }

-- Leading extents (`...`): none, one, or two as in (batch, sequence).
M.leading = {
  {}, { 1 }, { 2 }, { 3 }, { 4 }, { 8 }, { 16 }, { 17 }, { 32 }, { 64 }, { 128 }, { 256 }, { 1024 }, { 4096 },
  { 2, 3 }, { 3, 5 }, { 2, 128 }, { 4, 33 }, { 8, 512 }, { 8, 4096 },
}

-- What each dim is in a model of eight billion parameters at work; `leading` is the product of the leading extents.
M.production = {
  leading = 4096, batch = 8, seq = 4096, tokens = 4096, total = 4096, heads = 32, q_heads = 32, kv_heads = 8,
  head_dim = 128, key_dim = 128, value_dim = 128, half = 64, hidden = 4096, normalized_shape = 4096, channels = 4096,
  out_features = 4096, intermediate = 14336, vocab = 128256, embedding_dim = 4096, experts = 8, rows = 4096, cols = 4096,
  inner = 4096, response = 1023,
}

-- Dims that a shape is about: production sizes of these matter more than those of the others.
M.weight = { vocab = 4, seq = 4, total = 4, hidden = 4, normalized_shape = 4, channels = 4, head_dim = 4, embedding_dim = 4 }

-- Dims that may well be equal; any other two had better differ, so that swapping them shows.
M.tied = { cos_batch = "batch" }

function M.pool(name)
  return rawget(M.pools, name) or M.other
end

local function largest_divisor(n, at_most)
  local divisor = math.min(n, at_most)
  while n % divisor ~= 0 do divisor = divisor - 1 end
  return divisor
end

-- Dims and arguments that only make sense together, by name: whichever op has all of them. Each repair changes `dims`
-- and `args` in place. What an op wants beyond that is its `domain`, which drops what does not fit.
local repairs = {
  -- Grouped-query attention: every key head serves the same number of query heads.
  function(dims)
    if dims.q_heads and dims.kv_heads then dims.kv_heads = largest_divisor(dims.q_heads, dims.kv_heads) end
  end,
  -- One table of angles for all batch entries, or one for each.
  function(dims)
    if dims.cos_batch and dims.batch and dims.cos_batch ~= 1 then dims.cos_batch = dims.batch end
  end,
  -- A rotation turns at most the whole head.
  function(dims)
    if dims.half and dims.head_dim then dims.half = math.min(dims.half, dims.head_dim // 2) end
  end,
  -- Sections of a head's angles, half of them for time and a quarter each for height and width.
  function(dims, args)
    if args.mrope_section and dims.head_dim then
      local half = dims.head_dim // 2
      args.mrope_section = { half - 2 * (half // 4), half // 4, half // 4 }
    end
  end,
  -- A token goes to at most all experts.
  function(dims, args)
    if args.top_k and dims.experts then args.top_k = math.min(args.top_k, dims.experts) end
  end,
  -- One level for the token itself, and one for each power of two below the sequence's length.
  function(dims)
    if dims.levels and dims.seq then
      dims.levels = 1
      while 1 << (dims.levels - 1) < dims.seq do dims.levels = dims.levels + 1 end
    end
  end,
  -- Mini-batches fill the sequence.
  function(dims, args)
    if args.mini_batch_size and dims.seq then args.mini_batch_size = largest_divisor(dims.seq, args.mini_batch_size) end
  end,
  -- Groups have the same number of channels.
  function(dims, args)
    if args.num_groups and dims.channels then args.num_groups = largest_divisor(dims.channels, args.num_groups) end
  end,
  -- One gate per key channel of every head.
  function(dims)
    if dims.gate_dim and dims.heads and dims.key_dim then dims.gate_dim = dims.heads * dims.key_dim end
  end,
  -- No more sequences than tokens.
  function(dims)
    if dims.boundaries and dims.total then dims.boundaries = math.min(dims.boundaries, dims.total + 1) end
  end,
  -- A convolution's kernel fits into the padded image.
  function(dims, args)
    if dims.kernel_size and dims.seq and args.padding then
      dims.kernel_size = math.min(dims.kernel_size, dims.seq + 2 * args.padding)
    end
  end,
  -- Every block can be selected, so that nothing hangs on how near-equal scores are ranked.
  function(dims, args)
    if args.block_count and args.block_size and dims.seq then
      dims.seq = math.min(dims.seq, args.block_count * args.block_size)
    end
  end,
}

-- Makes dims and arguments (name to value; None is popcorn.null) agree, and returns both.
function M.repair(dims, args)
  for _, repair in ipairs(repairs) do repair(dims, args) end
  return dims, args
end

return M
