//! Elementwise ops of one operand. Integers are promoted to float32 where PyTorch does so.

use super::float_fns::{
    Abs, Ceil, Clamp, Cos, Elu, Erf, Exp, Exp2, Expm1, Floor, LeakyRelu, Log, Log1p, Log2, LogSigmoid, NanToNum, Neg,
    Reciprocal, Relu, Round, Rsqrt, Saves, Sigmoid, Sign, Silu, Sin, Softplus, Sqrt, Square, Tanh, Trunc, UnaryFn,
};
use crate::model::DType;
use crate::truth::element::{Compute, with_compute, with_real};
use crate::truth::error::{Error, Result};
use crate::truth::kernel::{map, zip};
use crate::truth::number::Number;
use crate::truth::tape::record_unary;
use crate::truth::tensor::Tensor;

impl Tensor {
    /// Applies a float function; integers and bool become float32 first.
    pub(super) fn apply<F: UnaryFn>(&self, f: F) -> Result<Self> {
        let x = if self.dtype().is_float() { self.clone() } else { self.to_dtype(DType::F32)? };
        let y = with_real!(x.dtype(), C => map::<C>(F::NAME, &x, x.dtype(), |x| f.eval(x))?);
        Ok(record_unary(F::NAME, &x, y, |y| {
            let saved = if F::SAVES == Saves::Input { x.detach() } else { y.clone() };
            move |g, sink| {
                sink.add(0, with_real!(g.dtype(), C => zip::<C>(F::NAME, &g, &saved, g.dtype(), |g, s| f.grad(g, s))?))
            }
        }))
    }

    /// Applies a float function to floats and `int` to integers, keeping their dtype.
    fn apply_keeping_int<F: UnaryFn>(&self, f: F, int: impl Fn(i64) -> i64 + Sync) -> Result<Self> {
        match self.dtype() {
            dtype if dtype.is_float() => self.apply(f),
            dtype => map::<i64>(F::NAME, self, dtype, int),
        }
    }

    fn refuse_bool(&self, op: &'static str) -> Result<()> {
        let message = || format!("not defined for {}", self.describe());
        if self.dtype() == DType::Bool { Err(Error::misuse(op, message())) } else { Ok(()) }
    }
}

macro_rules! unary_methods {
    (float { $($(#[$doc:meta])* $name:ident = $f:ident;)* }
     keeping_int { $($(#[$int_doc:meta])* $int_name:ident = $int_f:ident, $int:expr;)* }) => {
        impl Tensor {
            $($(#[$doc])*
            pub fn $name(&self) -> Result<Self> {
                self.apply($f)
            })*
            $($(#[$int_doc])*
            pub fn $int_name(&self) -> Result<Self> {
                self.apply_keeping_int($int_f, $int)
            })*
        }
    };
}

unary_methods! {
    float {
    /// `x^0.5`.
    sqrt = Sqrt;
    /// `x^-0.5`.
    rsqrt = Rsqrt;
    /// `e^x`.
    exp = Exp;
    /// `2^x`.
    exp2 = Exp2;
    /// `e^x - 1`, exact near 0.
    expm1 = Expm1;
    /// Natural logarithm.
    log = Log;
    /// Logarithm to base 2.
    log2 = Log2;
    /// `log(1 + x)`, exact near 0.
    log1p = Log1p;
    /// Sine of radians.
    sin = Sin;
    /// Cosine of radians.
    cos = Cos;
    /// Hyperbolic tangent.
    tanh = Tanh;
    /// `1 / (1 + e^-x)`.
    sigmoid = Sigmoid;
    /// `x * sigmoid(x)`.
    silu = Silu;
    /// Gauss error function.
    erf = Erf;
    /// `1 / x`.
    reciprocal = Reciprocal;
    /// `log(sigmoid(x))`.
    logsigmoid = LogSigmoid;
    }
    keeping_int {
    /// `x * x`.
    square = Square, |x| x.wrapping_mul(x);
    /// Magnitude; the gradient at 0 is 0.
    abs = Abs, |x| x.wrapping_abs();
    /// -1, 0 or 1; no gradient.
    sign = Sign, |x| x.signum();
    /// `max(x, 0)`; the gradient at 0 is 0, NaN stays NaN.
    relu = Relu, |x| x.max(0);
    /// Next integer below; zero gradient.
    floor = Floor, |x| x;
    /// Next integer above; zero gradient.
    ceil = Ceil, |x| x;
    /// Nearest integer, halves to even; zero gradient.
    round = Round, |x| x;
    /// Next integer towards zero; zero gradient.
    trunc = Trunc, |x| x;
    }
}

impl Tensor {
    /// `-x`; not defined for bool.
    pub fn neg(&self) -> Result<Self> {
        self.refuse_bool("neg")?;
        self.apply_keeping_int(Neg, i64::wrapping_neg)
    }

    /// `x` where positive, else `negative_slope * x` (PyTorch's default slope is 0.01).
    pub fn leaky_relu(&self, negative_slope: f64) -> Result<Self> {
        self.apply(LeakyRelu(negative_slope))
    }

    /// `x` where positive, else `alpha * (e^x - 1)`.
    pub fn elu(&self, alpha: f64) -> Result<Self> {
        self.apply(Elu(alpha))
    }

    /// `log(1 + e^(beta x)) / beta`, linear where `beta x > threshold` (PyTorch's defaults are 1 and 20).
    pub fn softplus(&self, beta: f64, threshold: f64) -> Result<Self> {
        self.apply(Softplus { beta, threshold })
    }

    /// Limits to `min ..= max`; the gradient passes inside, limits included. NaN stays NaN.
    pub fn clamp(&self, min: Option<Number>, max: Option<Number>) -> Result<Self> {
        if min.is_none() && max.is_none() {
            return Err(Error::misuse("clamp", "give at least one of min and max"));
        }
        let is_float = |limit: Option<Number>| matches!(limit, Some(Number::Float(_)));
        let (low, high) = (min.map(Number::as_f64), max.map(Number::as_f64));
        match self.dtype() {
            dtype if dtype.is_float() || is_float(min) || is_float(max) => self.apply(Clamp { min: low, max: high }),
            dtype => {
                let (low, high) = (min.map_or(i64::MIN, Number::as_i64), max.map_or(i64::MAX, Number::as_i64));
                map::<i64>("clamp", self, dtype, |x| x.max(low).min(high))
            }
        }
    }

    /// Replaces NaN by `nan` and the infinities by `posinf` and `neginf` (the dtype's extremes if None).
    pub fn nan_to_num(&self, nan: f64, posinf: Option<f64>, neginf: Option<f64>) -> Result<Self> {
        if !self.dtype().is_float() {
            return Ok(self.clone());
        }
        let most = match self.dtype() {
            DType::F64 => f64::MAX,
            DType::F32 => f64::from(f32::MAX),
            DType::F16 => half::f16::MAX.to_f64(),
            _ => half::bf16::MAX.to_f64(),
        };
        self.apply(NanToNum { nan, posinf: posinf.unwrap_or(most), neginf: neginf.unwrap_or(-most) })
    }

    /// Whether each element is NaN.
    pub fn isnan(&self) -> Result<Self> {
        self.classify("isnan", |x| x.is_nan())
    }

    /// Whether each element is neither NaN nor infinite.
    pub fn isfinite(&self) -> Result<Self> {
        self.classify("isfinite", f64::is_finite)
    }

    /// Whether each element is an infinity.
    pub fn isinf(&self) -> Result<Self> {
        self.classify("isinf", f64::is_infinite)
    }

    fn classify(&self, op: &'static str, f: impl Fn(f64) -> bool + Sync) -> Result<Self> {
        with_compute!(self.dtype(), C => {
            map::<C>(op, self, DType::Bool, |x| C::from_i64(i64::from(f(x.to_f64()))))
        })
    }
}
