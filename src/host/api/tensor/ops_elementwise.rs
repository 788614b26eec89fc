//! Functions of one operand.

use super::op::{Op, one, op};
use crate::truth::{Approximate, Number};

pub(super) const OPS: &[Op] = &[
    op("neg", "self: Tensor", "`-self`.", |a| one(a.this()?.neg())),
    op("square", "self: Tensor", "`self * self`.", |a| one(a.this()?.square())),
    op("sqrt", "self: Tensor", "Square root.", |a| one(a.this()?.sqrt())),
    op("rsqrt", "self: Tensor", "`1 / sqrt(self)`.", |a| one(a.this()?.rsqrt())),
    op("exp", "self: Tensor", "`e^self`.", |a| one(a.this()?.exp())),
    op("exp2", "self: Tensor", "`2^self`.", |a| one(a.this()?.exp2())),
    op("expm1", "self: Tensor", "`e^self - 1`, exact near 0.", |a| one(a.this()?.expm1())),
    op("log", "self: Tensor", "Natural logarithm.", |a| one(a.this()?.log())),
    op("log2", "self: Tensor", "Logarithm to base 2.", |a| one(a.this()?.log2())),
    op("log1p", "self: Tensor", "`log(1 + self)`, exact near 0.", |a| one(a.this()?.log1p())),
    op("abs", "self: Tensor", "Magnitude; gradient 0 at 0.", |a| one(a.this()?.abs())),
    op("sign", "self: Tensor", "-1, 0 or 1.", |a| one(a.this()?.sign())),
    op("sigmoid", "self: Tensor", "`1 / (1 + exp(-self))`.", |a| one(a.this()?.sigmoid())),
    op("silu", "self: Tensor", "`self * sigmoid(self)`.", |a| one(a.this()?.silu())),
    op("tanh", "self: Tensor", "Hyperbolic tangent.", |a| one(a.this()?.tanh())),
    op("relu", "self: Tensor", "`max(self, 0)`; gradient 0 at 0.", |a| one(a.this()?.relu())),
    op("logsigmoid", "self: Tensor", "`log(sigmoid(self))`.", |a| one(a.this()?.logsigmoid())),
    op("sin", "self: Tensor", "Sine of radians.", |a| one(a.this()?.sin())),
    op("cos", "self: Tensor", "Cosine of radians.", |a| one(a.this()?.cos())),
    op("erf", "self: Tensor", "Gauss error function.", |a| one(a.this()?.erf())),
    op("reciprocal", "self: Tensor", "`1 / self`.", |a| one(a.this()?.reciprocal())),
    op("floor", "self: Tensor", "Next integer below; zero gradient.", |a| one(a.this()?.floor())),
    op("ceil", "self: Tensor", "Next integer above; zero gradient.", |a| one(a.this()?.ceil())),
    op("round", "self: Tensor", "Nearest integer, halves to even; zero gradient.", |a| one(a.this()?.round())),
    op("trunc", "self: Tensor", "Next integer towards zero; zero gradient.", |a| one(a.this()?.trunc())),
    op("isnan", "self: Tensor", "Whether the element is NaN.", |a| one(a.this()?.isnan())),
    op("isinf", "self: Tensor", "Whether the element is an infinity.", |a| one(a.this()?.isinf())),
    op("isfinite", "self: Tensor", "Whether the element is neither NaN nor infinite.", |a| one(a.this()?.isfinite())),
    op(
        "gelu",
        "self: Tensor, options?: { approximate?: \"none\"|\"tanh\" }",
        "`self * Phi(self)`, Phi the normal distribution function or its tanh approximation.",
        |a| {
            let x = a.this()?;
            match a.named_string("approximate")?.as_deref() {
                None | Some("none") => one(x.gelu(Approximate::None)),
                Some("tanh") => one(x.gelu(Approximate::Tanh)),
                Some(other) => Err(a.fault(format!("approximate '{other}' is neither 'none' nor 'tanh'"))),
            }
        },
    ),
    op(
        "leaky_relu",
        "self: Tensor, negative_slope?: number",
        "`self` where positive, else `negative_slope * self` (0.01 by default).",
        |a| one(a.this()?.leaky_relu(a.float("negative_slope", 0.01)?)),
    ),
    op("elu", "self: Tensor, alpha?: number", "`self` where positive, else `alpha * (exp(self) - 1)`.", |a| {
        one(a.this()?.elu(a.float("alpha", 1.0)?))
    }),
    op(
        "softplus",
        "self: Tensor, beta?: number, threshold?: number",
        "`log(1 + exp(beta * self)) / beta`, linear where `beta * self > threshold` (1 and 20 by default).",
        |a| one(a.this()?.softplus(a.float("beta", 1.0)?, a.float("threshold", 20.0)?)),
    ),
    op(
        "clamp",
        "self: Tensor, min?: number, max?: number",
        "Limited to `min` and `max`; the gradient passes inside, limits included.",
        |a| one(a.this()?.clamp(a.optional_number("min")?, a.optional_number("max")?)),
    ),
    op(
        "nan_to_num",
        "self: Tensor, nan?: number, posinf?: number, neginf?: number",
        "NaN (0 by default) and infinities (the dtype's extremes by default) replaced.",
        |a| {
            let (x, nan) = (a.this()?, a.float("nan", 0.0)?);
            one(x.nan_to_num(
                nan,
                a.optional_number("posinf")?.map(Number::as_f64),
                a.optional_number("neginf")?.map(Number::as_f64),
            ))
        },
    ),
    op(
        "tril",
        "self: Tensor, diagonal?: integer",
        "Elements on and below a diagonal of the last two dims; zero elsewhere.",
        |a| one(a.this()?.tril(a.int_or("diagonal", 0)?)),
    ),
    op(
        "triu",
        "self: Tensor, diagonal?: integer",
        "Elements on and above a diagonal of the last two dims; zero elsewhere.",
        |a| one(a.this()?.triu(a.int_or("diagonal", 0)?)),
    ),
];
