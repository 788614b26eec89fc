-- torch.nn.functional.embedding.
return {
  summary = "Rows of a table by index: weight[indices]; the gradient adds up rows that occur more than once.",
  tags = { "lookup" },
  params = {
    { "weight", "float[vocab, embedding_dim]" },
    { "indices", "int64[batch, seq]", range = { 0, "vocab" } },
  },
  returns = { "float[batch, seq, embedding_dim]" },

  reference = function(weight, indices) return tensor.embedding(indices, weight) end,

  -- Forward reads each distinct row at least once; backward writes the whole gradient.
  bytes = function(c)
    local row = c.dims.embedding_dim * c.itemsize
    local out = c.numel.indices * row
    local rows = math.min(c.numel.indices, c.dims.vocab) * row
    return c.bytes.indices + rows + out, c.bytes.indices + out + c.bytes.weight
  end,
  flops = function(c) return 0, c.numel.indices * c.dims.embedding_dim end,
}
