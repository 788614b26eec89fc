//! Float functions of two and three operands, gelu's two forms, and the ops built on them.

use super::float_fns::{Gelu, GeluTanh, c};
use crate::model::DType;
use crate::truth::element::{Compute, Real, with_compute, with_real};
use crate::truth::error::{Error, Result};
use crate::truth::kernel::zip3;
use crate::truth::number::{Number, Operand, result_type};
use crate::truth::tape::record;
use crate::truth::tensor::Tensor;

/// `y = f(a, b)` and its gradients.
pub(super) trait BinaryFn: Copy + Send + Sync + 'static {
    const NAME: &'static str;
    fn eval<R: Real>(self, a: R, b: R) -> R;
    fn grad_a<R: Real>(self, g: R, a: R, b: R) -> R;
    fn grad_b<R: Real>(self, g: R, a: R, b: R) -> R;
}

#[derive(Clone, Copy)]
pub(super) struct Pow;
impl BinaryFn for Pow {
    const NAME: &'static str = "pow";
    fn eval<R: Real>(self, a: R, b: R) -> R {
        a.powf(b)
    }
    fn grad_a<R: Real>(self, g: R, a: R, b: R) -> R {
        if b == R::ZERO { R::ZERO } else { g * (b * a.powf(b - R::ONE)) }
    }
    fn grad_b<R: Real>(self, g: R, a: R, b: R) -> R {
        if a == R::ZERO && b >= R::ZERO { R::ZERO } else { g * (a.powf(b) * a.ln()) }
    }
}

#[derive(Clone, Copy)]
pub(super) struct Maximum;
impl BinaryFn for Maximum {
    const NAME: &'static str = "maximum";
    fn eval<R: Real>(self, a: R, b: R) -> R {
        if a > b || a.is_nan() { a } else { b }
    }
    fn grad_a<R: Real>(self, g: R, a: R, b: R) -> R {
        share(g, a == b, a < b)
    }
    fn grad_b<R: Real>(self, g: R, a: R, b: R) -> R {
        share(g, a == b, b < a)
    }
}

#[derive(Clone, Copy)]
pub(super) struct Minimum;
impl BinaryFn for Minimum {
    const NAME: &'static str = "minimum";
    fn eval<R: Real>(self, a: R, b: R) -> R {
        if a < b || a.is_nan() { a } else { b }
    }
    fn grad_a<R: Real>(self, g: R, a: R, b: R) -> R {
        share(g, a == b, a > b)
    }
    fn grad_b<R: Real>(self, g: R, a: R, b: R) -> R {
        share(g, a == b, b > a)
    }
}

/// Half of `g` on a tie, nothing for the loser, all of it otherwise (also beside a NaN).
fn share<R: Real>(g: R, tie: bool, lost: bool) -> R {
    if tie {
        g * c(0.5)
    } else if lost {
        R::ZERO
    } else {
        g
    }
}

#[derive(Clone, Copy)]
pub(super) struct Logaddexp;
impl BinaryFn for Logaddexp {
    const NAME: &'static str = "logaddexp";
    fn eval<R: Real>(self, a: R, b: R) -> R {
        // Equal infinities: their difference would be NaN.
        if a == b && a.abs() == R::INFINITY {
            return a;
        }
        let most = if a > b || a.is_nan() { a } else { b };
        most + (-(a - b).abs()).exp().ln_1p()
    }
    fn grad_a<R: Real>(self, g: R, a: R, b: R) -> R {
        g / (R::ONE + (b - a).exp())
    }
    fn grad_b<R: Real>(self, g: R, a: R, b: R) -> R {
        g / (R::ONE + (a - b).exp())
    }
}

#[derive(Clone, Copy)]
pub(super) struct Xlogy;
impl BinaryFn for Xlogy {
    const NAME: &'static str = "xlogy";
    fn eval<R: Real>(self, a: R, b: R) -> R {
        if a == R::ZERO && !b.is_nan() { R::ZERO } else { a * b.ln() }
    }
    fn grad_a<R: Real>(self, g: R, a: R, b: R) -> R {
        if a == R::ZERO && b <= R::ZERO { R::ZERO } else { g * b.ln() }
    }
    fn grad_b<R: Real>(self, g: R, a: R, b: R) -> R {
        g * a / b
    }
}

/// Which gelu: through the error function, or the tanh approximation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approximate {
    None,
    Tanh,
}

impl Tensor {
    /// `x * Phi(x)`, Phi the normal distribution function or its tanh approximation.
    pub fn gelu(&self, approximate: Approximate) -> Result<Self> {
        match approximate {
            Approximate::None => self.apply(Gelu),
            Approximate::Tanh => self.apply(GeluTanh),
        }
    }

    /// `x` where `condition` (bool) is true, else `other`.
    pub fn select_where(condition: &Self, x: impl Into<Operand>, other: impl Into<Operand>) -> Result<Self> {
        let (x, other) = (x.into(), other.into());
        if condition.dtype() != DType::Bool {
            let message = format!("the condition is {}, expected bool", condition.describe());
            return Err(Error::misuse("where", message));
        }
        let dtype = result_type([&x, &other]);
        let to_tensor = |operand: Operand| match operand {
            Operand::Tensor(tensor) => tensor.to_dtype(dtype),
            Operand::Number(number) => Self::scalar(number, Some(dtype)),
        };
        let (x, other) = (to_tensor(x)?, to_tensor(other)?);
        let y = with_compute!(dtype, C => zip3::<C>("where", [condition, &x, &other], dtype, |mask, x, other| {
            if mask == C::ZERO { other } else { x }
        })?);
        Ok(record("where", &[&x, &other], y, |_| {
            let condition = condition.clone();
            move |g, sink| {
                if sink.wants(0) {
                    sink.add(0, Self::select_where(&condition, &g, 0.0)?)?;
                }
                if sink.wants(1) {
                    sink.add(1, Self::select_where(&condition, 0.0, &g)?)?;
                }
                Ok(())
            }
        }))
    }

    /// `x` with `value` where `mask` (bool, broadcast) is true.
    pub fn masked_fill(&self, mask: &Self, value: impl Into<Number>) -> Result<Self> {
        if mask.dtype() != DType::Bool {
            let message = format!("the mask is {}, expected bool", mask.describe());
            return Err(Error::misuse("masked_fill", message));
        }
        let value = Self::scalar(value, Some(self.dtype()))?;
        Self::select_where(mask, &value, self)
    }

    /// `x + value * a * b`, rounded once.
    pub fn addcmul(&self, a: &Self, b: &Self, value: f64) -> Result<Self> {
        let dtype = result_type([&self.into(), &a.into(), &b.into()]);
        let (x, a, b) = (self.to_dtype(dtype)?, a.to_dtype(dtype)?, b.to_dtype(dtype)?);
        if !dtype.is_float() {
            return x.add(&a.mul(&b)?.mul(value as i64)?);
        }
        let y = with_real!(dtype, C => {
            let value: C = c(value);
            zip3::<C>("addcmul", [&x, &a, &b], dtype, |x, a, b| x + value * a * b)?
        });
        Ok(record("addcmul", &[&x, &a, &b], y, |_| {
            let (a, b) = (a.detach(), b.detach());
            move |g: Self, sink| {
                sink.add(0, g.clone())?;
                if sink.wants(1) {
                    sink.add(1, g.mul(&b.mul(value)?)?)?;
                }
                if sink.wants(2) {
                    sink.add(2, g.mul(&a.mul(value)?)?)?;
                }
                Ok(())
            }
        }))
    }

    /// `x + weight * (end - x)`.
    pub fn lerp(&self, end: &Self, weight: impl Into<Operand>) -> Result<Self> {
        let weight = weight.into();
        self.in_compute_dtype(|x| {
            let weight = match &weight {
                Operand::Tensor(tensor) => Operand::Tensor(tensor.to_dtype(x.dtype())?),
                number => number.clone(),
            };
            let end = end.to_dtype(x.dtype())?;
            x.add(&Self::mul_operands(weight, Operand::Tensor(end.sub(x)?))?)
        })
    }
}
