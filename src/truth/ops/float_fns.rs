//! The scalar functions of float ops and their derivatives, written once for f32 and f64. Formulas and
//! sub-gradients are PyTorch's (`derivatives.yaml`).

use crate::truth::element::Real;

/// `y = f(x)` and its gradient.
pub(super) trait UnaryFn: Copy + Send + Sync + 'static {
    const NAME: &'static str;
    /// Which of x and y the gradient reads.
    const SAVES: Saves;
    fn eval<R: Real>(self, x: R) -> R;
    /// Gradient by x; `saved` is x or y, as [`UnaryFn::SAVES`] says.
    fn grad<R: Real>(self, g: R, saved: R) -> R;
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Saves {
    Input,
    Output,
}

/// A constant of the computing type.
pub(super) fn c<R: Real>(value: f64) -> R {
    R::from_f64(value)
}

macro_rules! unary_fns {
    ($($(#[$doc:meta])* $name:ident $text:literal $saves:ident: |$x:ident| $eval:expr, |$g:ident, $s:ident| $grad:expr;)*) => {
        $($(#[$doc])*
        #[derive(Clone, Copy)]
        pub(super) struct $name;
        impl UnaryFn for $name {
            const NAME: &'static str = $text;
            const SAVES: Saves = Saves::$saves;
            fn eval<R: Real>(self, $x: R) -> R {
                $eval
            }
            fn grad<R: Real>(self, $g: R, $s: R) -> R {
                $grad
            }
        })*
    };
}

unary_fns! {
    Square "square" Input: |x| x * x, |g, x| g * (c::<R>(2.0) * x);
    Sqrt "sqrt" Output: |x| x.sqrt(), |g, y| g / (c::<R>(2.0) * y);
    Rsqrt "rsqrt" Output: |x| R::ONE / x.sqrt(), |g, y| c::<R>(-0.5) * g * (y * y * y);
    Exp "exp" Output: |x| x.exp(), |g, y| g * y;
    Exp2 "exp2" Output: |x| x.exp2(), |g, y| g * y * c::<R>(std::f64::consts::LN_2);
    Expm1 "expm1" Output: |x| x.exp_m1(), |g, y| g * (y + R::ONE);
    Log "log" Input: |x| x.ln(), |g, x| g / x;
    Log2 "log2" Input: |x| x.log2(), |g, x| g / (x * c::<R>(std::f64::consts::LN_2));
    Log1p "log1p" Input: |x| x.ln_1p(), |g, x| g / (x + R::ONE);
    Sin "sin" Input: |x| x.sin(), |g, x| g * x.cos();
    Cos "cos" Input: |x| x.cos(), |g, x| -(g * x.sin());
    Tanh "tanh" Output: |x| x.tanh(), |g, y| g * (R::ONE - y * y);
    Sigmoid "sigmoid" Output: |x| sigmoid(x), |g, y| g * (R::ONE - y) * y;
    Silu "silu" Input: |x| x * sigmoid(x), |g, x| {
        let s = sigmoid(x);
        g * s * (R::ONE + x * (R::ONE - s))
    };
    Gelu "gelu" Input: |x| x * normal_cdf(x), |g, x| {
        let density = (c::<R>(-0.5) * x * x).exp() * c(FRAC_1_SQRT_TAU);
        g * (normal_cdf(x) + x * density)
    };
    GeluTanh "gelu" Input: |x| c::<R>(0.5) * x * (R::ONE + gelu_inner(x).tanh()), |g, x| {
        let t = gelu_inner(x).tanh();
        let slope = c::<R>(FRAC_SQRT_2_PI) * (R::ONE + c::<R>(3.0 * GELU_CUBIC) * x * x);
        let half = c::<R>(0.5);
        g * (half * (R::ONE + t) + half * x * (R::ONE - t * t) * slope)
    };
    Erf "erf" Input: |x| x.erf(), |g, x| g * c::<R>(std::f64::consts::FRAC_2_SQRT_PI) * (-(x * x)).exp();
    Reciprocal "reciprocal" Output: |x| R::ONE / x, |g, y| -(g * y * y);
    LogSigmoid "logsigmoid" Input: |x| {
        let least = if x >= R::ZERO { R::ZERO } else { x };
        least - (-x.abs()).exp().ln_1p()
    }, |g, x| g * sigmoid(-x);
    Neg "neg" Output: |x| -x, |g, _y| -g;
    Abs "abs" Input: |x| x.abs(), |g, x| g * sign(x);
    Sign "sign" Output: |x| sign(x), |_g, _y| R::ZERO;
    Relu "relu" Output: |x| if x <= R::ZERO { R::ZERO } else { x }, |g, y| if y <= R::ZERO { R::ZERO } else { g };
    Floor "floor" Output: |x| x.floor(), |_g, _y| R::ZERO;
    Ceil "ceil" Output: |x| x.ceil(), |_g, _y| R::ZERO;
    /// Halves go to the even neighbour.
    Round "round" Output: |x| x.round_even(), |_g, _y| R::ZERO;
    Trunc "trunc" Output: |x| x.trunc(), |_g, _y| R::ZERO;
}

/// 1/√(2π).
const FRAC_1_SQRT_TAU: f64 = 0.398_942_280_401_432_7;
/// √(2/π).
const FRAC_SQRT_2_PI: f64 = 0.797_884_560_802_865_4;
/// The cubic coefficient of the tanh approximation (Hendrycks and Gimpel, 2016).
const GELU_CUBIC: f64 = 0.044715;

pub(super) fn sigmoid<R: Real>(x: R) -> R {
    R::ONE / (R::ONE + (-x).exp())
}

fn normal_cdf<R: Real>(x: R) -> R {
    c::<R>(0.5) * (R::ONE + (x * c(std::f64::consts::FRAC_1_SQRT_2)).erf())
}

fn gelu_inner<R: Real>(x: R) -> R {
    c::<R>(FRAC_SQRT_2_PI) * (x + c::<R>(GELU_CUBIC) * x * x * x)
}

/// -1, 0 or 1; 0 for NaN, as PyTorch.
pub(super) fn sign<R: Real>(x: R) -> R {
    if x > R::ZERO {
        R::ONE
    } else if x < R::ZERO {
        -R::ONE
    } else {
        R::ZERO
    }
}

/// `x` where positive, else `x * slope`.
#[derive(Clone, Copy)]
pub(super) struct LeakyRelu(pub(super) f64);
impl UnaryFn for LeakyRelu {
    const NAME: &'static str = "leaky_relu";
    const SAVES: Saves = Saves::Input;
    fn eval<R: Real>(self, x: R) -> R {
        if x > R::ZERO { x } else { x * c(self.0) }
    }
    fn grad<R: Real>(self, g: R, x: R) -> R {
        if x > R::ZERO { g } else { g * c(self.0) }
    }
}

/// `x` where positive, else `alpha * expm1(x)`.
#[derive(Clone, Copy)]
pub(super) struct Elu(pub(super) f64);
impl UnaryFn for Elu {
    const NAME: &'static str = "elu";
    const SAVES: Saves = Saves::Input;
    fn eval<R: Real>(self, x: R) -> R {
        if x > R::ZERO { x } else { x.exp_m1() * c(self.0) }
    }
    fn grad<R: Real>(self, g: R, x: R) -> R {
        if x > R::ZERO { g } else { g * x.exp() * c(self.0) }
    }
}

/// `log(1 + exp(beta x)) / beta`; the identity where `beta x > threshold`.
#[derive(Clone, Copy)]
pub(super) struct Softplus {
    pub(super) beta: f64,
    pub(super) threshold: f64,
}
impl UnaryFn for Softplus {
    const NAME: &'static str = "softplus";
    const SAVES: Saves = Saves::Input;
    fn eval<R: Real>(self, x: R) -> R {
        let scaled = x * c(self.beta);
        if scaled > c(self.threshold) { x } else { scaled.exp().ln_1p() / c(self.beta) }
    }
    fn grad<R: Real>(self, g: R, x: R) -> R {
        let scaled = x * c(self.beta);
        if scaled > c(self.threshold) { g } else { g * sigmoid(scaled) }
    }
}

/// Limits that let NaN pass; the gradient passes where the value does, limits included.
#[derive(Clone, Copy)]
pub(super) struct Clamp {
    pub(super) min: Option<f64>,
    pub(super) max: Option<f64>,
}
impl UnaryFn for Clamp {
    const NAME: &'static str = "clamp";
    const SAVES: Saves = Saves::Input;
    fn eval<R: Real>(self, x: R) -> R {
        let mut y = x;
        if let Some(min) = self.min.filter(|&min| y < c(min) || min.is_nan()) {
            y = c(min);
        }
        if let Some(max) = self.max.filter(|&max| y > c(max) || max.is_nan()) {
            y = c(max);
        }
        y
    }
    fn grad<R: Real>(self, g: R, x: R) -> R {
        let inside = self.min.is_none_or(|min| x >= c(min)) && self.max.is_none_or(|max| x <= c(max));
        if inside { g } else { R::ZERO }
    }
}

/// Replaces NaN and the infinities; the gradient passes where the value was finite.
#[derive(Clone, Copy)]
pub(super) struct NanToNum {
    pub(super) nan: f64,
    pub(super) posinf: f64,
    pub(super) neginf: f64,
}
impl UnaryFn for NanToNum {
    const NAME: &'static str = "nan_to_num";
    const SAVES: Saves = Saves::Input;
    fn eval<R: Real>(self, x: R) -> R {
        if x.is_nan() {
            c(self.nan)
        } else if x == R::INFINITY {
            c(self.posinf)
        } else if x == -R::INFINITY {
            c(self.neginf)
        } else {
            x
        }
    }
    fn grad<R: Real>(self, g: R, x: R) -> R {
        if x.is_finite() { g } else { R::ZERO }
    }
}
