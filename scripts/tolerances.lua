--- How far a tensor may be from fp64 truth, by the tensor's own dtype.
---
---   max|err| <= max(honest_factor * honest error, floor * max|truth|)
---
--- The honest error is that of the op's reference evaluated at the case's dtype. The root-mean-square error is bound
--- by the same two numbers, the signed mean error by a part of that (see src/judge/grade.rs). Integers and booleans
--- are exact. An op may override a floor with `tolerance = { bfloat16 = 4e-2 }`.
return {
  honest_factor = 2,
  floor = { float64 = 1e-10, float32 = 2e-5, float16 = 1e-3, bfloat16 = 2e-2 },
}
