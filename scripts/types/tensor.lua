---@meta
-- PyTorch's names, 0-based dims, eager, differentiable. Rendered from the op table by its test.

---@alias tensor.DType "float64"|"float32"|"float16"|"bfloat16"|"int64"|"int32"|"int8"|"bool"

---@class tensor.Options
---@field dtype? tensor.DType

---@class Tensor
---@field shape integer[] Extents, outermost first.
---@field dtype tensor.DType Element type.
---@field numel integer Number of elements.
---@field ndim integer Number of dims.
---@field T Tensor All dims in reverse order.
---@field mT Tensor The last two dims swapped.
---@operator add(Tensor|number): Tensor
---@operator sub(Tensor|number): Tensor
---@operator mul(Tensor|number): Tensor
---@operator div(Tensor|number): Tensor
---@operator idiv(Tensor|number): Tensor
---@operator mod(Tensor|number): Tensor
---@operator pow(Tensor|number): Tensor
---@operator unm: Tensor
local Tensor = {}

tensor = {}

---A tensor of a number or of nested lists of numbers; float32, int64 or bool unless a dtype is given.
---@param data number|boolean|table
---@param dtype? tensor.DType
---@return Tensor
function tensor.tensor(data, dtype) end

---Every element 0; float32 unless `dtype` is given.
---@param shape integer|integer[]
---@param options? tensor.Options
---@return Tensor
function tensor.zeros(shape, options) end

---Every element 1; float32 unless `dtype` is given.
---@param shape integer|integer[]
---@param options? tensor.Options
---@return Tensor
function tensor.ones(shape, options) end

---Every element `value`; float32, int64 or bool by the value unless `dtype` is given.
---@param shape integer[]
---@param value number|boolean
---@param options? tensor.Options
---@return Tensor
function tensor.full(shape, value, options) end

---The identity matrix, `n` rows and `m` (or n) columns.
---@param n integer
---@param m? integer
---@param options? tensor.Options
---@return Tensor
function tensor.eye(n, m, options) end

---`start, start + step, …` below `stop`; with one number, from 0 below it. int64 if all are integers, else float32.
---@param start number
---@param stop? number
---@param step? number
---@param options? tensor.Options
---@return Tensor
function tensor.arange(start, stop, step, options) end

---`steps` evenly spaced values from `start` to `stop`, both included.
---@param start number
---@param stop number
---@param steps integer
---@param options? tensor.Options
---@return Tensor
function tensor.linspace(start, stop, steps, options) end

---Zeros of this shape, and dtype unless one is given.
---@param self Tensor
---@param options? tensor.Options
---@return Tensor
function tensor.zeros_like(self, options) end

---Zeros of this shape, and dtype unless one is given.
---@param options? tensor.Options
---@return Tensor
function Tensor:zeros_like(options) end

---Ones of this shape, and dtype unless one is given.
---@param self Tensor
---@param options? tensor.Options
---@return Tensor
function tensor.ones_like(self, options) end

---Ones of this shape, and dtype unless one is given.
---@param options? tensor.Options
---@return Tensor
function Tensor:ones_like(options) end

---`value` in this shape, and dtype unless one is given.
---@param self Tensor
---@param value number|boolean
---@param options? tensor.Options
---@return Tensor
function tensor.full_like(self, value, options) end

---`value` in this shape, and dtype unless one is given.
---@param value number|boolean
---@param options? tensor.Options
---@return Tensor
function Tensor:full_like(value, options) end

---Elements converted to `dtype`; the same tensor if it already has it.
---@param self Tensor
---@param dtype tensor.DType
---@return Tensor
function tensor.to(self, dtype) end

---Elements converted to `dtype`; the same tensor if it already has it.
---@param dtype tensor.DType
---@return Tensor
function Tensor:to(dtype) end

---float16 and bfloat16 become float32; other dtypes stay.
---@param self Tensor
---@return Tensor
function tensor.upcast(self) end

---float16 and bfloat16 become float32; other dtypes stay.
---@return Tensor
function Tensor:upcast() end

---The same elements, through which no gradient flows.
---@param self Tensor
---@return Tensor
function tensor.detach(self) end

---The same elements, through which no gradient flows.
---@return Tensor
function Tensor:detach() end

---The only element of a one-element tensor.
---@param self Tensor
---@return number|boolean
function tensor.item(self) end

---The only element of a one-element tensor.
---@return number|boolean
function Tensor:item() end

---The elements as nested lists.
---@param self Tensor
---@return table|number|boolean
function tensor.tolist(self) end

---The elements as nested lists.
---@return table|number|boolean
function Tensor:tolist() end

---A leaf with these elements that `tensor.grad` can differentiate by.
---@param self Tensor
---@return Tensor
function tensor.requires_grad(self) end

---A leaf with these elements that `tensor.grad` can differentiate by.
---@return Tensor
function Tensor:requires_grad() end

---Gradients of `sum(outputs * cotangents)` by each input, nil where there is no dependence. Releases the saved intermediates.
---@param outputs Tensor[]
---@param cotangents Tensor[]
---@param inputs Tensor[]
---@return Tensor?...
function tensor.grad(outputs, cotangents, inputs) end

---`self + other`.
---@param self Tensor|number
---@param other Tensor|number
---@return Tensor
function tensor.add(self, other) end

---`self + other`.
---@param other Tensor|number
---@return Tensor
function Tensor:add(other) end

---`self - other`.
---@param self Tensor|number
---@param other Tensor|number
---@return Tensor
function tensor.sub(self, other) end

---`self - other`.
---@param other Tensor|number
---@return Tensor
function Tensor:sub(other) end

---`self * other`.
---@param self Tensor|number
---@param other Tensor|number
---@return Tensor
function tensor.mul(self, other) end

---`self * other`.
---@param other Tensor|number
---@return Tensor
function Tensor:mul(other) end

---`self / other`; integers become float32 unless a rounding mode is given.
---@param self Tensor|number
---@param other Tensor|number
---@param options? { rounding_mode?: "floor"|"trunc" }
---@return Tensor
function tensor.div(self, other, options) end

---`self / other`; integers become float32 unless a rounding mode is given.
---@param other Tensor|number
---@param options? { rounding_mode?: "floor"|"trunc" }
---@return Tensor
function Tensor:div(other, options) end

---`self // other`: the quotient's floor; not differentiable.
---@param self Tensor|number
---@param other Tensor|number
---@return Tensor
function tensor.floor_divide(self, other) end

---`self // other`: the quotient's floor; not differentiable.
---@param other Tensor|number
---@return Tensor
function Tensor:floor_divide(other) end

---`self % other`, with the divisor's sign.
---@param self Tensor|number
---@param other Tensor|number
---@return Tensor
function tensor.remainder(self, other) end

---`self % other`, with the divisor's sign.
---@param other Tensor|number
---@return Tensor
function Tensor:remainder(other) end

---`self ^ exponent`.
---@param self Tensor|number
---@param exponent Tensor|number
---@return Tensor
function tensor.pow(self, exponent) end

---`self ^ exponent`.
---@param exponent Tensor|number
---@return Tensor
function Tensor:pow(exponent) end

---The larger of two; NaN if either is; ties share the gradient.
---@param self Tensor
---@param other Tensor|number
---@return Tensor
function tensor.maximum(self, other) end

---The larger of two; NaN if either is; ties share the gradient.
---@param other Tensor|number
---@return Tensor
function Tensor:maximum(other) end

---The smaller of two; NaN if either is; ties share the gradient.
---@param self Tensor
---@param other Tensor|number
---@return Tensor
function tensor.minimum(self, other) end

---The smaller of two; NaN if either is; ties share the gradient.
---@param other Tensor|number
---@return Tensor
function Tensor:minimum(other) end

---`log(exp(self) + exp(other))`.
---@param self Tensor
---@param other Tensor|number
---@return Tensor
function tensor.logaddexp(self, other) end

---`log(exp(self) + exp(other))`.
---@param other Tensor|number
---@return Tensor
function Tensor:logaddexp(other) end

---`self * log(other)`, 0 where self is 0.
---@param self Tensor|number
---@param other Tensor|number
---@return Tensor
function tensor.xlogy(self, other) end

---`self * log(other)`, 0 where self is 0.
---@param other Tensor|number
---@return Tensor
function Tensor:xlogy(other) end

---`self + value * tensor1 * tensor2`, rounded once.
---@param self Tensor
---@param tensor1 Tensor
---@param tensor2 Tensor
---@param options? { value?: number }
---@return Tensor
function tensor.addcmul(self, tensor1, tensor2, options) end

---`self + value * tensor1 * tensor2`, rounded once.
---@param tensor1 Tensor
---@param tensor2 Tensor
---@param options? { value?: number }
---@return Tensor
function Tensor:addcmul(tensor1, tensor2, options) end

---`self + weight * (end - self)`.
---@param self Tensor
---@param end Tensor
---@param weight Tensor|number
---@return Tensor
function tensor.lerp(self, end, weight) end

---`self + weight * (end - self)`.
---@param end Tensor
---@param weight Tensor|number
---@return Tensor
function Tensor:lerp(end, weight) end

---`x` where `condition` (bool) is true, else `other`.
---@param condition Tensor
---@param x Tensor|number
---@param other Tensor|number
---@return Tensor
function tensor.where(condition, x, other) end

---`value` where `mask` (bool) is true.
---@param self Tensor
---@param mask Tensor
---@param value number
---@return Tensor
function tensor.masked_fill(self, mask, value) end

---`value` where `mask` (bool) is true.
---@param mask Tensor
---@param value number
---@return Tensor
function Tensor:masked_fill(mask, value) end

---Whether elements are equal; NaN equals nothing.
---@param self Tensor
---@param other Tensor|number
---@return Tensor
function tensor.eq(self, other) end

---Whether elements are equal; NaN equals nothing.
---@param other Tensor|number
---@return Tensor
function Tensor:eq(other) end

---Whether elements differ.
---@param self Tensor
---@param other Tensor|number
---@return Tensor
function tensor.ne(self, other) end

---Whether elements differ.
---@param other Tensor|number
---@return Tensor
function Tensor:ne(other) end

---Whether `self < other`.
---@param self Tensor
---@param other Tensor|number
---@return Tensor
function tensor.lt(self, other) end

---Whether `self < other`.
---@param other Tensor|number
---@return Tensor
function Tensor:lt(other) end

---Whether `self <= other`.
---@param self Tensor
---@param other Tensor|number
---@return Tensor
function tensor.le(self, other) end

---Whether `self <= other`.
---@param other Tensor|number
---@return Tensor
function Tensor:le(other) end

---Whether `self > other`.
---@param self Tensor
---@param other Tensor|number
---@return Tensor
function tensor.gt(self, other) end

---Whether `self > other`.
---@param other Tensor|number
---@return Tensor
function Tensor:gt(other) end

---Whether `self >= other`.
---@param self Tensor
---@param other Tensor|number
---@return Tensor
function tensor.ge(self, other) end

---Whether `self >= other`.
---@param other Tensor|number
---@return Tensor
function Tensor:ge(other) end

---Whether both are non-zero.
---@param self Tensor
---@param other Tensor|number
---@return Tensor
function tensor.logical_and(self, other) end

---Whether both are non-zero.
---@param other Tensor|number
---@return Tensor
function Tensor:logical_and(other) end

---Whether either is non-zero.
---@param self Tensor
---@param other Tensor|number
---@return Tensor
function tensor.logical_or(self, other) end

---Whether either is non-zero.
---@param other Tensor|number
---@return Tensor
function Tensor:logical_or(other) end

---Whether exactly one is non-zero.
---@param self Tensor
---@param other Tensor|number
---@return Tensor
function tensor.logical_xor(self, other) end

---Whether exactly one is non-zero.
---@param other Tensor|number
---@return Tensor
function Tensor:logical_xor(other) end

---Whether the element is zero.
---@param self Tensor
---@return Tensor
function tensor.logical_not(self) end

---Whether the element is zero.
---@return Tensor
function Tensor:logical_not() end

---Whether shape, dtype and every element are equal.
---@param self Tensor
---@param other Tensor
---@return boolean
function tensor.equal(self, other) end

---Whether shape, dtype and every element are equal.
---@param other Tensor
---@return boolean
function Tensor:equal(other) end

---Whether `|self - other| <= atol + rtol * |other|` everywhere; rtol 1e-5 and atol 1e-8 by default.
---@param self Tensor
---@param other Tensor
---@param rtol? number
---@param atol? number
---@return boolean
function tensor.allclose(self, other, rtol, atol) end

---Whether `|self - other| <= atol + rtol * |other|` everywhere; rtol 1e-5 and atol 1e-8 by default.
---@param other Tensor
---@param rtol? number
---@param atol? number
---@return boolean
function Tensor:allclose(other, rtol, atol) end

---`-self`.
---@param self Tensor
---@return Tensor
function tensor.neg(self) end

---`-self`.
---@return Tensor
function Tensor:neg() end

---`self * self`.
---@param self Tensor
---@return Tensor
function tensor.square(self) end

---`self * self`.
---@return Tensor
function Tensor:square() end

---Square root.
---@param self Tensor
---@return Tensor
function tensor.sqrt(self) end

---Square root.
---@return Tensor
function Tensor:sqrt() end

---`1 / sqrt(self)`.
---@param self Tensor
---@return Tensor
function tensor.rsqrt(self) end

---`1 / sqrt(self)`.
---@return Tensor
function Tensor:rsqrt() end

---`e^self`.
---@param self Tensor
---@return Tensor
function tensor.exp(self) end

---`e^self`.
---@return Tensor
function Tensor:exp() end

---`2^self`.
---@param self Tensor
---@return Tensor
function tensor.exp2(self) end

---`2^self`.
---@return Tensor
function Tensor:exp2() end

---`e^self - 1`, exact near 0.
---@param self Tensor
---@return Tensor
function tensor.expm1(self) end

---`e^self - 1`, exact near 0.
---@return Tensor
function Tensor:expm1() end

---Natural logarithm.
---@param self Tensor
---@return Tensor
function tensor.log(self) end

---Natural logarithm.
---@return Tensor
function Tensor:log() end

---Logarithm to base 2.
---@param self Tensor
---@return Tensor
function tensor.log2(self) end

---Logarithm to base 2.
---@return Tensor
function Tensor:log2() end

---`log(1 + self)`, exact near 0.
---@param self Tensor
---@return Tensor
function tensor.log1p(self) end

---`log(1 + self)`, exact near 0.
---@return Tensor
function Tensor:log1p() end

---Magnitude; gradient 0 at 0.
---@param self Tensor
---@return Tensor
function tensor.abs(self) end

---Magnitude; gradient 0 at 0.
---@return Tensor
function Tensor:abs() end

----1, 0 or 1.
---@param self Tensor
---@return Tensor
function tensor.sign(self) end

----1, 0 or 1.
---@return Tensor
function Tensor:sign() end

---`1 / (1 + exp(-self))`.
---@param self Tensor
---@return Tensor
function tensor.sigmoid(self) end

---`1 / (1 + exp(-self))`.
---@return Tensor
function Tensor:sigmoid() end

---`self * sigmoid(self)`.
---@param self Tensor
---@return Tensor
function tensor.silu(self) end

---`self * sigmoid(self)`.
---@return Tensor
function Tensor:silu() end

---Hyperbolic tangent.
---@param self Tensor
---@return Tensor
function tensor.tanh(self) end

---Hyperbolic tangent.
---@return Tensor
function Tensor:tanh() end

---`max(self, 0)`; gradient 0 at 0.
---@param self Tensor
---@return Tensor
function tensor.relu(self) end

---`max(self, 0)`; gradient 0 at 0.
---@return Tensor
function Tensor:relu() end

---`log(sigmoid(self))`.
---@param self Tensor
---@return Tensor
function tensor.logsigmoid(self) end

---`log(sigmoid(self))`.
---@return Tensor
function Tensor:logsigmoid() end

---Sine of radians.
---@param self Tensor
---@return Tensor
function tensor.sin(self) end

---Sine of radians.
---@return Tensor
function Tensor:sin() end

---Cosine of radians.
---@param self Tensor
---@return Tensor
function tensor.cos(self) end

---Cosine of radians.
---@return Tensor
function Tensor:cos() end

---Gauss error function.
---@param self Tensor
---@return Tensor
function tensor.erf(self) end

---Gauss error function.
---@return Tensor
function Tensor:erf() end

---`1 / self`.
---@param self Tensor
---@return Tensor
function tensor.reciprocal(self) end

---`1 / self`.
---@return Tensor
function Tensor:reciprocal() end

---Next integer below; zero gradient.
---@param self Tensor
---@return Tensor
function tensor.floor(self) end

---Next integer below; zero gradient.
---@return Tensor
function Tensor:floor() end

---Next integer above; zero gradient.
---@param self Tensor
---@return Tensor
function tensor.ceil(self) end

---Next integer above; zero gradient.
---@return Tensor
function Tensor:ceil() end

---Nearest integer, halves to even; zero gradient.
---@param self Tensor
---@return Tensor
function tensor.round(self) end

---Nearest integer, halves to even; zero gradient.
---@return Tensor
function Tensor:round() end

---Next integer towards zero; zero gradient.
---@param self Tensor
---@return Tensor
function tensor.trunc(self) end

---Next integer towards zero; zero gradient.
---@return Tensor
function Tensor:trunc() end

---Whether the element is NaN.
---@param self Tensor
---@return Tensor
function tensor.isnan(self) end

---Whether the element is NaN.
---@return Tensor
function Tensor:isnan() end

---Whether the element is an infinity.
---@param self Tensor
---@return Tensor
function tensor.isinf(self) end

---Whether the element is an infinity.
---@return Tensor
function Tensor:isinf() end

---Whether the element is neither NaN nor infinite.
---@param self Tensor
---@return Tensor
function tensor.isfinite(self) end

---Whether the element is neither NaN nor infinite.
---@return Tensor
function Tensor:isfinite() end

---`self * Phi(self)`, Phi the normal distribution function or its tanh approximation.
---@param self Tensor
---@param options? { approximate?: "none"|"tanh" }
---@return Tensor
function tensor.gelu(self, options) end

---`self * Phi(self)`, Phi the normal distribution function or its tanh approximation.
---@param options? { approximate?: "none"|"tanh" }
---@return Tensor
function Tensor:gelu(options) end

---`self` where positive, else `negative_slope * self` (0.01 by default).
---@param self Tensor
---@param negative_slope? number
---@return Tensor
function tensor.leaky_relu(self, negative_slope) end

---`self` where positive, else `negative_slope * self` (0.01 by default).
---@param negative_slope? number
---@return Tensor
function Tensor:leaky_relu(negative_slope) end

---`self` where positive, else `alpha * (exp(self) - 1)`.
---@param self Tensor
---@param alpha? number
---@return Tensor
function tensor.elu(self, alpha) end

---`self` where positive, else `alpha * (exp(self) - 1)`.
---@param alpha? number
---@return Tensor
function Tensor:elu(alpha) end

---`log(1 + exp(beta * self)) / beta`, linear where `beta * self > threshold` (1 and 20 by default).
---@param self Tensor
---@param beta? number
---@param threshold? number
---@return Tensor
function tensor.softplus(self, beta, threshold) end

---`log(1 + exp(beta * self)) / beta`, linear where `beta * self > threshold` (1 and 20 by default).
---@param beta? number
---@param threshold? number
---@return Tensor
function Tensor:softplus(beta, threshold) end

---Limited to `min` and `max`; the gradient passes inside, limits included.
---@param self Tensor
---@param min? number
---@param max? number
---@return Tensor
function tensor.clamp(self, min, max) end

---Limited to `min` and `max`; the gradient passes inside, limits included.
---@param min? number
---@param max? number
---@return Tensor
function Tensor:clamp(min, max) end

---NaN (0 by default) and infinities (the dtype's extremes by default) replaced.
---@param self Tensor
---@param nan? number
---@param posinf? number
---@param neginf? number
---@return Tensor
function tensor.nan_to_num(self, nan, posinf, neginf) end

---NaN (0 by default) and infinities (the dtype's extremes by default) replaced.
---@param nan? number
---@param posinf? number
---@param neginf? number
---@return Tensor
function Tensor:nan_to_num(nan, posinf, neginf) end

---Elements on and below a diagonal of the last two dims; zero elsewhere.
---@param self Tensor
---@param diagonal? integer
---@return Tensor
function tensor.tril(self, diagonal) end

---Elements on and below a diagonal of the last two dims; zero elsewhere.
---@param diagonal? integer
---@return Tensor
function Tensor:tril(diagonal) end

---Elements on and above a diagonal of the last two dims; zero elsewhere.
---@param self Tensor
---@param diagonal? integer
---@return Tensor
function tensor.triu(self, diagonal) end

---Elements on and above a diagonal of the last two dims; zero elsewhere.
---@param diagonal? integer
---@return Tensor
function Tensor:triu(diagonal) end

---Sum over dims (all of them if none is given); integers sum to int64.
---@param self Tensor
---@param dim? integer|integer[]
---@param keepdim? boolean
---@return Tensor
function tensor.sum(self, dim, keepdim) end

---Sum over dims (all of them if none is given); integers sum to int64.
---@param dim? integer|integer[]
---@param keepdim? boolean
---@return Tensor
function Tensor:sum(dim, keepdim) end

---Mean over dims.
---@param self Tensor
---@param dim? integer|integer[]
---@param keepdim? boolean
---@return Tensor
function tensor.mean(self, dim, keepdim) end

---Mean over dims.
---@param dim? integer|integer[]
---@param keepdim? boolean
---@return Tensor
function Tensor:mean(dim, keepdim) end

---Largest element over dims; NaN if any is; ties share the gradient.
---@param self Tensor
---@param dim? integer|integer[]
---@param keepdim? boolean
---@return Tensor
function tensor.amax(self, dim, keepdim) end

---Largest element over dims; NaN if any is; ties share the gradient.
---@param dim? integer|integer[]
---@param keepdim? boolean
---@return Tensor
function Tensor:amax(dim, keepdim) end

---Smallest element over dims; NaN if any is; ties share the gradient.
---@param self Tensor
---@param dim? integer|integer[]
---@param keepdim? boolean
---@return Tensor
function tensor.amin(self, dim, keepdim) end

---Smallest element over dims; NaN if any is; ties share the gradient.
---@param dim? integer|integer[]
---@param keepdim? boolean
---@return Tensor
function Tensor:amin(dim, keepdim) end

---Whether any element over dims is non-zero.
---@param self Tensor
---@param dim? integer|integer[]
---@param keepdim? boolean
---@return Tensor
function tensor.any(self, dim, keepdim) end

---Whether any element over dims is non-zero.
---@param dim? integer|integer[]
---@param keepdim? boolean
---@return Tensor
function Tensor:any(dim, keepdim) end

---Whether all elements over dims are non-zero.
---@param self Tensor
---@param dim? integer|integer[]
---@param keepdim? boolean
---@return Tensor
function tensor.all(self, dim, keepdim) end

---Whether all elements over dims are non-zero.
---@param dim? integer|integer[]
---@param keepdim? boolean
---@return Tensor
function Tensor:all(dim, keepdim) end

---`log(sum(exp(self)))` over dims.
---@param self Tensor
---@param dim? integer|integer[]
---@param keepdim? boolean
---@return Tensor
function tensor.logsumexp(self, dim, keepdim) end

---`log(sum(exp(self)))` over dims.
---@param dim? integer|integer[]
---@param keepdim? boolean
---@return Tensor
function Tensor:logsumexp(dim, keepdim) end

---Product along a dim, or of all elements.
---@param self Tensor
---@param dim? integer
---@param keepdim? boolean
---@return Tensor
function tensor.prod(self, dim, keepdim) end

---Product along a dim, or of all elements.
---@param dim? integer
---@param keepdim? boolean
---@return Tensor
function Tensor:prod(dim, keepdim) end

---Variance over dims: squared deviations over `n - correction` (1 by default).
---@param self Tensor
---@param dim? integer|integer[]
---@param options? { correction?: number, keepdim?: boolean }
---@return Tensor
function tensor.var(self, dim, options) end

---Variance over dims: squared deviations over `n - correction` (1 by default).
---@param dim? integer|integer[]
---@param options? { correction?: number, keepdim?: boolean }
---@return Tensor
function Tensor:var(dim, options) end

---Square root of the variance over dims.
---@param self Tensor
---@param dim? integer|integer[]
---@param options? { correction?: number, keepdim?: boolean }
---@return Tensor
function tensor.std(self, dim, options) end

---Square root of the variance over dims.
---@param dim? integer|integer[]
---@param options? { correction?: number, keepdim?: boolean }
---@return Tensor
function Tensor:std(dim, options) end

---The p-norm over dims (p 2 by default).
---@param self Tensor
---@param p? number
---@param dim? integer|integer[]
---@param keepdim? boolean
---@return Tensor
function tensor.norm(self, p, dim, keepdim) end

---The p-norm over dims (p 2 by default).
---@param p? number
---@param dim? integer|integer[]
---@param keepdim? boolean
---@return Tensor
function Tensor:norm(p, dim, keepdim) end

---Largest element; along a dim, also its first position.
---@param self Tensor
---@param dim? integer
---@param keepdim? boolean
---@return Tensor
---@return Tensor?
function tensor.max(self, dim, keepdim) end

---Largest element; along a dim, also its first position.
---@param dim? integer
---@param keepdim? boolean
---@return Tensor
---@return Tensor?
function Tensor:max(dim, keepdim) end

---Smallest element; along a dim, also its first position.
---@param self Tensor
---@param dim? integer
---@param keepdim? boolean
---@return Tensor
---@return Tensor?
function tensor.min(self, dim, keepdim) end

---Smallest element; along a dim, also its first position.
---@param dim? integer
---@param keepdim? boolean
---@return Tensor
---@return Tensor?
function Tensor:min(dim, keepdim) end

---First position of the largest element along a dim, or of all elements.
---@param self Tensor
---@param dim? integer
---@param keepdim? boolean
---@return Tensor
function tensor.argmax(self, dim, keepdim) end

---First position of the largest element along a dim, or of all elements.
---@param dim? integer
---@param keepdim? boolean
---@return Tensor
function Tensor:argmax(dim, keepdim) end

---First position of the smallest element along a dim, or of all elements.
---@param self Tensor
---@param dim? integer
---@param keepdim? boolean
---@return Tensor
function tensor.argmin(self, dim, keepdim) end

---First position of the smallest element along a dim, or of all elements.
---@param dim? integer
---@param keepdim? boolean
---@return Tensor
function Tensor:argmin(dim, keepdim) end

---`exp(self) / sum(exp(self))` along a dim.
---@param self Tensor
---@param dim integer
---@param options? tensor.Options
---@return Tensor
function tensor.softmax(self, dim, options) end

---`exp(self) / sum(exp(self))` along a dim.
---@param dim integer
---@param options? tensor.Options
---@return Tensor
function Tensor:softmax(dim, options) end

---`log(softmax(self))` along a dim.
---@param self Tensor
---@param dim integer
---@param options? tensor.Options
---@return Tensor
function tensor.log_softmax(self, dim, options) end

---`log(softmax(self))` along a dim.
---@param dim integer
---@param options? tensor.Options
---@return Tensor
function Tensor:log_softmax(dim, options) end

---Running sum along a dim.
---@param self Tensor
---@param dim integer
---@return Tensor
function tensor.cumsum(self, dim) end

---Running sum along a dim.
---@param dim integer
---@return Tensor
function Tensor:cumsum(dim) end

---The same elements under another shape; one extent may be -1.
---@param self Tensor
---@param shape integer|integer[]
---@param ... integer
---@return Tensor
function tensor.reshape(self, shape, ...) end

---The same elements under another shape; one extent may be -1.
---@param shape integer|integer[]
---@param ... integer
---@return Tensor
function Tensor:reshape(shape, ...) end

---As reshape.
---@param self Tensor
---@param shape integer|integer[]
---@param ... integer
---@return Tensor
function tensor.view(self, shape, ...) end

---As reshape.
---@param shape integer|integer[]
---@param ... integer
---@return Tensor
function Tensor:view(shape, ...) end

---Dims `start_dim` to `end_dim` (all by default) as one.
---@param self Tensor
---@param start_dim? integer
---@param end_dim? integer
---@return Tensor
function tensor.flatten(self, start_dim, end_dim) end

---Dims `start_dim` to `end_dim` (all by default) as one.
---@param start_dim? integer
---@param end_dim? integer
---@return Tensor
function Tensor:flatten(start_dim, end_dim) end

---One dim as several; one size may be -1.
---@param self Tensor
---@param dim integer
---@param sizes integer[]
---@return Tensor
function tensor.unflatten(self, dim, sizes) end

---One dim as several; one size may be -1.
---@param dim integer
---@param sizes integer[]
---@return Tensor
function Tensor:unflatten(dim, sizes) end

---Dims in the order given.
---@param self Tensor
---@param dims integer|integer[]
---@param ... integer
---@return Tensor
function tensor.permute(self, dims, ...) end

---Dims in the order given.
---@param dims integer|integer[]
---@param ... integer
---@return Tensor
function Tensor:permute(dims, ...) end

---Two dims swapped.
---@param self Tensor
---@param dim0 integer
---@param dim1 integer
---@return Tensor
function tensor.transpose(self, dim0, dim1) end

---Two dims swapped.
---@param dim0 integer
---@param dim1 integer
---@return Tensor
function Tensor:transpose(dim0, dim1) end

---Without the dims of extent 1 (those named, or all).
---@param self Tensor
---@param dim? integer|integer[]
---@return Tensor
function tensor.squeeze(self, dim) end

---Without the dims of extent 1 (those named, or all).
---@param dim? integer|integer[]
---@return Tensor
function Tensor:squeeze(dim) end

---A new dim of extent 1 before `dim`.
---@param self Tensor
---@param dim integer
---@return Tensor
function tensor.unsqueeze(self, dim) end

---A new dim of extent 1 before `dim`.
---@param dim integer
---@return Tensor
function Tensor:unsqueeze(dim) end

---Dims of extent 1 grown to `shape`; -1 keeps an extent.
---@param self Tensor
---@param shape integer|integer[]
---@param ... integer
---@return Tensor
function tensor.expand(self, shape, ...) end

---Dims of extent 1 grown to `shape`; -1 keeps an extent.
---@param shape integer|integer[]
---@param ... integer
---@return Tensor
function Tensor:expand(shape, ...) end

---As expand, every extent given.
---@param self Tensor
---@param shape integer[]
---@return Tensor
function tensor.broadcast_to(self, shape) end

---As expand, every extent given.
---@param shape integer[]
---@return Tensor
function Tensor:broadcast_to(shape) end

---The tensor itself: tensors are always contiguous.
---@param self Tensor
---@return Tensor
function tensor.contiguous(self) end

---The tensor itself: tensors are always contiguous.
---@return Tensor
function Tensor:contiguous() end

---Element `index` of a dim, which disappears.
---@param self Tensor
---@param dim integer
---@param index integer
---@return Tensor
function tensor.select(self, dim, index) end

---Element `index` of a dim, which disappears.
---@param dim integer
---@param index integer
---@return Tensor
function Tensor:select(dim, index) end

---`length` elements of a dim from `start`.
---@param self Tensor
---@param dim integer
---@param start integer
---@param length integer
---@return Tensor
function tensor.narrow(self, dim, start, length) end

---`length` elements of a dim from `start`.
---@param dim integer
---@param start integer
---@param length integer
---@return Tensor
function Tensor:narrow(dim, start, length) end

---Every `step`-th element of a dim in `start .. stop`, 0-based and half-open; negative positions count from the end.
---@param self Tensor
---@param dim integer
---@param start? integer
---@param stop? integer
---@param step? integer
---@return Tensor
function tensor.slice(self, dim, start, stop, step) end

---Every `step`-th element of a dim in `start .. stop`, 0-based and half-open; negative positions count from the end.
---@param dim integer
---@param start? integer
---@param stop? integer
---@param step? integer
---@return Tensor
function Tensor:slice(dim, start, stop, step) end

---Tensors joined along a dim (0 by default).
---@param tensors Tensor[]
---@param dim? integer
---@return Tensor
function tensor.cat(tensors, dim) end

---Tensors of one shape joined along a new dim (0 by default).
---@param tensors Tensor[]
---@param dim? integer
---@return Tensor
function tensor.stack(tensors, dim) end

---Consecutive parts of one size, or of the listed sizes, along a dim (0 by default).
---@param self Tensor
---@param size integer|integer[]
---@param dim? integer
---@return Tensor...
function tensor.split(self, size, dim) end

---Consecutive parts of one size, or of the listed sizes, along a dim (0 by default).
---@param size integer|integer[]
---@param dim? integer
---@return Tensor...
function Tensor:split(size, dim) end

---At most `chunks` parts of equal size (the last may be smaller) along a dim (0 by default).
---@param self Tensor
---@param chunks integer
---@param dim? integer
---@return Tensor...
function tensor.chunk(self, chunks, dim) end

---At most `chunks` parts of equal size (the last may be smaller) along a dim (0 by default).
---@param chunks integer
---@param dim? integer
---@return Tensor...
function Tensor:chunk(chunks, dim) end

---The elements of a dim (0 by default), without that dim.
---@param self Tensor
---@param dim? integer
---@return Tensor...
function tensor.unbind(self, dim) end

---The elements of a dim (0 by default), without that dim.
---@param dim? integer
---@return Tensor...
function Tensor:unbind(dim) end

---The whole tensor repeated along each dim, last dim last (PyTorch's `repeat`, which is a keyword of Lua).
---@param self Tensor
---@param repeats integer|integer[]
---@param ... integer
---@return Tensor
function tensor.tile(self, repeats, ...) end

---The whole tensor repeated along each dim, last dim last (PyTorch's `repeat`, which is a keyword of Lua).
---@param repeats integer|integer[]
---@param ... integer
---@return Tensor
function Tensor:tile(repeats, ...) end

---Each element repeated in a row along a dim, or of all elements.
---@param self Tensor
---@param repeats integer
---@param dim? integer
---@return Tensor
function tensor.repeat_interleave(self, repeats, dim) end

---Each element repeated in a row along a dim, or of all elements.
---@param repeats integer
---@param dim? integer
---@return Tensor
function Tensor:repeat_interleave(repeats, dim) end

---`value` (0 by default) around the tensor: before and after the last dim, then the one before it, …
---@param self Tensor
---@param amounts integer[]
---@param value? number
---@return Tensor
function tensor.pad(self, amounts, value) end

---`value` (0 by default) around the tensor: before and after the last dim, then the one before it, …
---@param amounts integer[]
---@param value? number
---@return Tensor
function Tensor:pad(amounts, value) end

---Dims reversed.
---@param self Tensor
---@param dims integer|integer[]
---@return Tensor
function tensor.flip(self, dims) end

---Dims reversed.
---@param dims integer|integer[]
---@return Tensor
function Tensor:flip(dims) end

---Elements shifted along a dim (or all elements), wrapping around.
---@param self Tensor
---@param shift integer
---@param dim? integer
---@return Tensor
function tensor.roll(self, shift, dim) end

---Elements shifted along a dim (or all elements), wrapping around.
---@param shift integer
---@param dim? integer
---@return Tensor
function Tensor:roll(shift, dim) end

---A diagonal of two dims (0 and 1 by default) as a last dim.
---@param self Tensor
---@param offset? integer
---@param dim1? integer
---@param dim2? integer
---@return Tensor
function tensor.diagonal(self, offset, dim1, dim2) end

---A diagonal of two dims (0 and 1 by default) as a last dim.
---@param offset? integer
---@param dim1? integer
---@param dim2? integer
---@return Tensor
function Tensor:diagonal(offset, dim1, dim2) end

---Matrices whose diagonal is the last dim.
---@param self Tensor
---@param offset? integer
---@return Tensor
function tensor.diag_embed(self, offset) end

---Matrices whose diagonal is the last dim.
---@param offset? integer
---@return Tensor
function Tensor:diag_embed(offset) end

---One element per index along a dim.
---@param self Tensor
---@param dim integer
---@param index Tensor
---@return Tensor
function tensor.gather(self, dim, index) end

---One element per index along a dim.
---@param dim integer
---@param index Tensor
---@return Tensor
function Tensor:gather(dim, index) end

---`src` written where `index` points along a dim.
---@param self Tensor
---@param dim integer
---@param index Tensor
---@param src Tensor|number
---@return Tensor
function tensor.scatter(self, dim, index, src) end

---`src` written where `index` points along a dim.
---@param dim integer
---@param index Tensor
---@param src Tensor|number
---@return Tensor
function Tensor:scatter(dim, index, src) end

---`src` added where `index` points along a dim.
---@param self Tensor
---@param dim integer
---@param index Tensor
---@param src Tensor
---@return Tensor
function tensor.scatter_add(self, dim, index, src) end

---`src` added where `index` points along a dim.
---@param dim integer
---@param index Tensor
---@param src Tensor
---@return Tensor
function Tensor:scatter_add(dim, index, src) end

---Slices of a dim in the order of a rank-1 index.
---@param self Tensor
---@param dim integer
---@param index Tensor
---@return Tensor
function tensor.index_select(self, dim, index) end

---Slices of a dim in the order of a rank-1 index.
---@param dim integer
---@param index Tensor
---@return Tensor
function Tensor:index_select(dim, index) end

---`alpha * source` added to the slices of a dim that a rank-1 index names.
---@param self Tensor
---@param dim integer
---@param index Tensor
---@param source Tensor
---@param options? { alpha?: number }
---@return Tensor
function tensor.index_add(self, dim, index, source, options) end

---`alpha * source` added to the slices of a dim that a rank-1 index names.
---@param dim integer
---@param index Tensor
---@param source Tensor
---@param options? { alpha?: number }
---@return Tensor
function Tensor:index_add(dim, index, source, options) end

---Rows of a `[rows, width]` table; row `padding_idx` gets no gradient.
---@param index Tensor
---@param weight Tensor
---@param padding_idx? integer
---@return Tensor
function tensor.embedding(index, weight, padding_idx) end

---Matrix product over the last two dims; others are broadcast; vectors are rows on the left, columns on the right.
---@param self Tensor
---@param other Tensor
---@return Tensor
function tensor.matmul(self, other) end

---Matrix product over the last two dims; others are broadcast; vectors are rows on the left, columns on the right.
---@param other Tensor
---@return Tensor
function Tensor:matmul(other) end

---Product of two rank-3 stacks of matrices.
---@param self Tensor
---@param other Tensor
---@return Tensor
function tensor.bmm(self, other) end

---Product of two rank-3 stacks of matrices.
---@param other Tensor
---@return Tensor
function Tensor:bmm(other) end

---`beta * self + alpha * mat1 @ mat2`.
---@param self Tensor
---@param mat1 Tensor
---@param mat2 Tensor
---@param options? { beta?: number, alpha?: number }
---@return Tensor
function tensor.addmm(self, mat1, mat2, options) end

---`beta * self + alpha * mat1 @ mat2`.
---@param mat1 Tensor
---@param mat2 Tensor
---@param options? { beta?: number, alpha?: number }
---@return Tensor
function Tensor:addmm(mat1, mat2, options) end

---`self @ weight^T + bias` over the last dim; `weight` is `[out, in]`.
---@param self Tensor
---@param weight Tensor
---@param bias? Tensor
---@return Tensor
function tensor.linear(self, weight, bias) end

---`self @ weight^T + bias` over the last dim; `weight` is `[out, in]`.
---@param weight Tensor
---@param bias? Tensor
---@return Tensor
function Tensor:linear(weight, bias) end

---Einstein summation: `tensor.einsum("bij,bjk->bik", x, y)`.
---@param equation string
---@param operands Tensor|Tensor[]
---@param ... Tensor
---@return Tensor
function tensor.einsum(equation, operands, ...) end

---`S = diag(decay) S + b (a^T diag(decay) S) + k v^T; o = q^T S` from step to step, `k` [..., steps, keys] and `v` [..., steps, values]: returns `o` [..., steps, values] and the last state [..., keys, values]. `decay` is as `k` or has width 1 (default 1), `a` and `b` are as `k` (default 0), `state` is the first state (default 0). With `erase_undecayed`, `a` reads the state before its decay; with `read_first`, `q` reads the state before the step; with `transposed`, `q` is as `v`, and `o = S q` as `k`.
---@param q Tensor
---@param k Tensor
---@param v Tensor
---@param options? { decay?: Tensor, a?: Tensor, b?: Tensor, state?: Tensor, transposed?: boolean, read_first?: boolean, erase_undecayed?: boolean }
---@return Tensor
---@return Tensor
function tensor.linear_recurrence(q, k, v, options) end

---Runs `step(carries..., slices of xs at t..., constants...) -> carries..., outputs...` over dim 0 of `xs`: returns the last carries, then each output stacked along a new dim 0. Gradients take the memory of about 2 sqrt(steps) steps and the time of one more pass; they reach only what is passed, so pass every tensor that the step uses.
---@param step fun(...: Tensor): Tensor...
---@param carries Tensor[]
---@param xs Tensor[]
---@param constants? Tensor[]
---@return Tensor...
function tensor.scan(step, carries, xs, constants) end
