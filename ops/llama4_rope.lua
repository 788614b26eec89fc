-- Su et al., "RoFormer", 2021 (arXiv:2104.09864), as Llama 4 applies it: neighbouring elements are one complex number,
-- multiplied by a unit complex number per position and pair.
return {
  summary = "Rotary position embedding of q and k by complex pairs: y_2m + i y_2m+1 = (x_2m + i x_2m+1) * freqs_tm.",
  tags = { "positional" },
  params = {
    { "q", "float[batch, seq, q_heads, head_dim]" },
    { "k", "float[batch, seq, kv_heads, head_dim]" },
    { "freqs", "float[seq, head_dim/2, 2]" },
  },
  returns = { "float[batch, seq, q_heads, head_dim]", "float[batch, seq, kv_heads, head_dim]" },
  no_grad = { "freqs" },
  inputs = {
    -- Cosine and sine of one angle.
    freqs = function(draw)
      local angle = draw:select(-1, 0)
      return tensor.stack({ angle:cos(), angle:sin() }, -1)
    end,
  },

  reference = function(q, k, freqs)
    local f = freqs:upcast():unsqueeze(1)
    local cos, sin = f:select(-1, 0), f:select(-1, 1)
    local function rotate(x)
      local pairs = x:upcast():unflatten(-1, { -1, 2 })
      local re, im = pairs:select(-1, 0), pairs:select(-1, 1)
      return tensor.stack({ re * cos - im * sin, re * sin + im * cos }, -1):flatten(-2):to(x.dtype)
    end
    return rotate(q), rotate(k)
  end,

  -- Backward is a rotation by the opposite angle.
  bytes = function(c)
    local pass = 2 * (c.bytes.q + c.bytes.k) + c.bytes.freqs
    return pass, pass
  end,
  flops = function(c)
    local pass = 3 * (c.numel.q + c.numel.k)
    return pass, pass
  end,
}
