//! Element types and the types they are computed in.

use bytemuck::Pod;
use half::{bf16, f16};

use crate::model::DType;

/// A storable element. Booleans are stored as `u8` 0 or 1.
pub(crate) trait Element: Pod + Send + Sync {
    const DTYPE: DType;
    /// What one op computes in before its result is rounded to `Self`: f64 for f64, f32 for the other floats (as
    /// PyTorch's `opmath_type`), i64 for integers and bool (its low bits are the narrower wrap-around).
    type Compute: Compute;
    /// Where a search for the largest (smallest) element starts: the infinities of a float.
    const LEAST: Self;
    const MOST: Self;
    fn load(self) -> Self::Compute;
    fn store(value: Self::Compute) -> Self;
}

/// f64, f32 or i64.
pub(crate) trait Compute: Pod + PartialOrd + Send + Sync {
    fn from_f64(value: f64) -> Self;
    fn from_i64(value: i64) -> Self;
    fn to_f64(self) -> f64;
    fn to_i64(self) -> i64;
    fn is_nan(self) -> bool;
    /// Sum; wraps for integers.
    fn plus(self, other: Self) -> Self;
}

/// f64 or f32 arithmetic.
pub(crate) trait Real:
    Compute
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::Neg<Output = Self>
    + std::ops::AddAssign
{
    const ZERO: Self;
    const ONE: Self;
    const INFINITY: Self;
    fn exp(self) -> Self;
    fn exp2(self) -> Self;
    fn exp_m1(self) -> Self;
    fn ln(self) -> Self;
    fn log2(self) -> Self;
    fn ln_1p(self) -> Self;
    fn sqrt(self) -> Self;
    fn abs(self) -> Self;
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn tanh(self) -> Self;
    fn erf(self) -> Self;
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn trunc(self) -> Self;
    fn round_even(self) -> Self;
    fn powf(self, exponent: Self) -> Self;
    fn is_finite(self) -> bool;
}

macro_rules! real {
    ($t:ty, $erf:path) => {
        impl Compute for $t {
            fn from_f64(value: f64) -> Self {
                value as $t
            }
            fn from_i64(value: i64) -> Self {
                value as $t
            }
            fn to_f64(self) -> f64 {
                self as f64
            }
            fn to_i64(self) -> i64 {
                self as i64
            }
            fn is_nan(self) -> bool {
                self.is_nan()
            }
            fn plus(self, other: Self) -> Self {
                self + other
            }
        }
        impl Real for $t {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const INFINITY: Self = <$t>::INFINITY;
            fn erf(self) -> Self {
                $erf(self)
            }
            fn round_even(self) -> Self {
                self.round_ties_even()
            }
            fn powf(self, exponent: Self) -> Self {
                <$t>::powf(self, exponent)
            }
            fn is_finite(self) -> bool {
                self.is_finite()
            }
            real!(@forward $t, exp exp2 exp_m1 ln log2 ln_1p sqrt abs sin cos tanh floor ceil trunc);
        }
    };
    (@forward $t:ty, $($name:ident)*) => {
        $(fn $name(self) -> Self { <$t>::$name(self) })*
    };
}
real!(f64, libm::erf);
real!(f32, libm::erff);

impl Compute for i64 {
    fn from_f64(value: f64) -> Self {
        value as Self
    }
    fn from_i64(value: i64) -> Self {
        value
    }
    fn to_f64(self) -> f64 {
        self as f64
    }
    fn to_i64(self) -> i64 {
        self
    }
    fn is_nan(self) -> bool {
        false
    }
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
}

macro_rules! element {
    ($($t:ty, $dtype:ident, $compute:ty, $least:expr, $most:expr, |$x:ident| $load:expr, |$c:ident| $store:expr;)*) => {
        $(impl Element for $t {
            const DTYPE: DType = DType::$dtype;
            type Compute = $compute;
            const LEAST: Self = $least;
            const MOST: Self = $most;
            fn load(self) -> $compute {
                let $x = self;
                $load
            }
            fn store($c: $compute) -> Self {
                $store
            }
        })*
    };
}
element! {
    f64, F64, f64, f64::NEG_INFINITY, f64::INFINITY, |x| x, |c| c;
    f32, F32, f32, f32::NEG_INFINITY, f32::INFINITY, |x| x, |c| c;
    f16, F16, f32, f16::NEG_INFINITY, f16::INFINITY, |x| x.to_f32(), |c| f16::from_f32(c);
    bf16, BF16, f32, bf16::NEG_INFINITY, bf16::INFINITY, |x| x.to_f32(), |c| bf16::from_f32(c);
    i64, I64, i64, i64::MIN, i64::MAX, |x| x, |c| c;
    i32, I32, i64, i32::MIN, i32::MAX, |x| i64::from(x), |c| c as i32;
    i8, I8, i64, i8::MIN, i8::MAX, |x| i64::from(x), |c| c as i8;
    u8, Bool, i64, 0, 1, |x| i64::from(x), |c| u8::from(c != 0);
}

/// Runs `$body` with `$T` bound to the float element type of `$dtype`; any other dtype is a bug of the caller.
macro_rules! with_float {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            $crate::model::DType::F64 => {
                type $T = f64;
                $body
            }
            $crate::model::DType::F32 => {
                type $T = f32;
                $body
            }
            $crate::model::DType::F16 => {
                type $T = half::f16;
                $body
            }
            $crate::model::DType::BF16 => {
                type $T = half::bf16;
                $body
            }
            other => unreachable!("{other} is not a float; callers promote first"),
        }
    };
}

/// Runs `$body` with `$T` bound to the integer (or bool) element type of `$dtype`.
macro_rules! with_int {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            $crate::model::DType::I64 => {
                type $T = i64;
                $body
            }
            $crate::model::DType::I32 => {
                type $T = i32;
                $body
            }
            $crate::model::DType::I8 => {
                type $T = i8;
                $body
            }
            $crate::model::DType::Bool => {
                type $T = u8;
                $body
            }
            other => unreachable!("{other} is not an integer; callers branch first"),
        }
    };
}

/// Runs `$body` with `$T` bound to the element type of `$dtype`.
macro_rules! with_any {
    ($dtype:expr, $T:ident => $body:expr) => {{
        let dtype = $dtype;
        if dtype.is_float() {
            $crate::truth::element::with_float!(dtype, $T => $body)
        } else {
            $crate::truth::element::with_int!(dtype, $T => $body)
        }
    }};
}
pub(crate) use {with_any, with_float, with_int};
