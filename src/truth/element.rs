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
    fn load(self) -> Self::Compute;
    fn store(value: Self::Compute) -> Self;
}

/// f64, f32 or i64: an element that is computed in as it is stored.
pub(crate) trait Compute: Element<Compute = Self> + PartialOrd {
    const ZERO: Self;
    /// The infinities of a float.
    const LEAST: Self;
    const MOST: Self;
    fn from_f64(value: f64) -> Self;
    fn from_i64(value: i64) -> Self;
    fn to_f64(self) -> f64;
    fn to_i64(self) -> i64;
    fn is_nan(self) -> bool;
    /// Sum and product; they wrap for integers.
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// Conversion between computing types: rounds to nearest, truncates to integers.
    fn cast<D: Compute>(self) -> D;
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
            const ZERO: Self = 0.0;
            const LEAST: Self = <$t>::NEG_INFINITY;
            const MOST: Self = <$t>::INFINITY;
            fn times(self, other: Self) -> Self {
                self * other
            }
            fn cast<D: Compute>(self) -> D {
                D::from_f64(f64::from(self))
            }
            fn from_f64(value: f64) -> Self {
                value as $t
            }
            fn from_i64(value: i64) -> Self {
                value as $t
            }
            fn to_f64(self) -> f64 {
                f64::from(self)
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
    const ZERO: Self = 0;
    const LEAST: Self = Self::MIN;
    const MOST: Self = Self::MAX;
    fn times(self, other: Self) -> Self {
        self.wrapping_mul(other)
    }
    fn cast<D: Compute>(self) -> D {
        D::from_i64(self)
    }
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
    ($($t:ty, $dtype:ident, $compute:ty, |$x:ident| $load:expr, |$c:ident| $store:expr;)*) => {
        $(impl Element for $t {
            const DTYPE: DType = DType::$dtype;
            type Compute = $compute;
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
    f64, F64, f64, |x| x, |c| c;
    f32, F32, f32, |x| x, |c| c;
    f16, F16, f32, |x| x.to_f32(), |c| f16::from_f32(c);
    bf16, BF16, f32, |x| x.to_f32(), |c| bf16::from_f32(c);
    i64, I64, i64, |x| x, |c| c;
    i32, I32, i64, |x| i64::from(x), |c| c as i32;
    i8, I8, i64, |x| i64::from(x), |c| c as i8;
    u8, Bool, i64, |x| i64::from(x), |c| u8::from(c != 0);
}

/// Runs `$body` with `$C` bound to the type that the float `$dtype` is computed in.
macro_rules! with_real {
    ($dtype:expr, $C:ident => $body:expr) => {
        if $dtype == $crate::model::DType::F64 {
            type $C = f64;
            $body
        } else {
            type $C = f32;
            $body
        }
    };
}

/// Runs `$body` with `$C` bound to the type that `$dtype` is computed in.
macro_rules! with_compute {
    ($dtype:expr, $C:ident => $body:expr) => {
        match $dtype {
            $crate::model::DType::F64 => {
                type $C = f64;
                $body
            }
            dtype if dtype.is_float() => {
                type $C = f32;
                $body
            }
            _ => {
                type $C = i64;
                $body
            }
        }
    };
}

/// Runs `$body` with `$T` bound to the element type of `$dtype`.
macro_rules! with_element {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::truth::element::with_element!(@arms $dtype, $T => $body,
            F64 f64, F32 f32, F16 half::f16, BF16 half::bf16, I64 i64, I32 i32, I8 i8, Bool u8)
    };
    (@arms $dtype:expr, $T:ident => $body:expr, $($name:ident $t:ty),*) => {
        match $dtype {
            $($crate::model::DType::$name => {
                type $T = $t;
                $body
            })*
        }
    };
}

/// Runs `$body` with `$T` bound to an unsigned integer as wide as `$dtype`, for ops that only move elements.
macro_rules! with_width {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype.size() {
            8 => {
                type $T = u64;
                $body
            }
            4 => {
                type $T = u32;
                $body
            }
            2 => {
                type $T = u16;
                $body
            }
            _ => {
                type $T = u8;
                $body
            }
        }
    };
}
pub(crate) use {with_compute, with_element, with_real, with_width};

/// The dtype that is stored as it is computed.
pub(crate) fn compute_dtype(dtype: DType) -> DType {
    with_compute!(dtype, C => C::DTYPE)
}
