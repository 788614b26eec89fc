//! Elementwise arithmetic of two operands, promoted and broadcast as PyTorch does.

use super::pointwise::{BinaryFn, Logaddexp, Maximum, Minimum, Pow, Xlogy};
use crate::model::DType;
use crate::truth::element::{Compute, Real, with_real};
use crate::truth::error::{Error, Result};
use crate::truth::kernel::{map, zip, zip3};
use crate::truth::number::{Number, Operand, result_type};
use crate::truth::tape::record;
use crate::truth::tensor::Tensor;

/// Two operands in the dtype that the op computes in; at least one is a tensor.
pub(super) struct Pair {
    pub(super) a: Operand,
    pub(super) b: Operand,
    pub(super) dtype: DType,
}

impl Pair {
    /// Promotes; with `float`, integers become float32.
    pub(super) fn promote(op: &'static str, a: Operand, b: Operand, float: bool) -> Result<Self> {
        let mut dtype = result_type([&a, &b]);
        if float && !dtype.is_float() {
            dtype = DType::F32;
        }
        if a.tensor().is_none() && b.tensor().is_none() {
            return Err(Error::misuse(op, "at least one operand must be a tensor"));
        }
        let cast = |operand: Operand| match operand {
            Operand::Tensor(tensor) => tensor.to_dtype(dtype).map(Operand::Tensor),
            number => Ok(number),
        };
        Ok(Self { a: cast(a)?, b: cast(b)?, dtype })
    }

    /// Runs a loop over the pair, a number staying in the computing type.
    pub(super) fn run<C: Compute>(&self, op: &'static str, out: DType, f: impl Fn(C, C) -> C + Sync) -> Result<Tensor> {
        match (&self.a, &self.b) {
            (Operand::Tensor(a), Operand::Tensor(b)) => zip(op, a, b, out, f),
            (Operand::Tensor(a), Operand::Number(b)) => {
                let b = number::<C>(*b);
                map(op, a, out, |a| f(a, b))
            }
            (Operand::Number(a), Operand::Tensor(b)) => {
                let a = number::<C>(*a);
                map(op, b, out, |b| f(a, b))
            }
            (Operand::Number(_), Operand::Number(_)) => unreachable!("promote refuses two numbers"),
        }
    }

    fn run_int(&self, op: &'static str, f: impl Fn(i64, i64) -> i64 + Sync) -> Result<Tensor> {
        self.run::<i64>(op, self.dtype, f)
    }

    /// Puts the result on the tape; `backward` gives the gradients by a and by b for the tensors among them.
    fn record<A, B>(self, op: &'static str, y: Tensor, grad_a: A, grad_b: B) -> Result<Tensor>
    where
        A: FnOnce(&Tensor, &Operand, &Operand) -> Result<Tensor> + Send + 'static,
        B: FnOnce(&Tensor, &Operand, &Operand) -> Result<Tensor> + Send + 'static,
    {
        let Self { a, b, .. } = self;
        let inputs: Vec<&Tensor> = [a.tensor(), b.tensor()].into_iter().flatten().collect();
        Ok(record(op, &inputs, y, |_| {
            let (a, b) = (detached(&a), detached(&b));
            move |g, sink| {
                let second = usize::from(a.tensor().is_some());
                if a.tensor().is_some() && sink.wants(0) {
                    sink.add(0, grad_a(&g, &a, &b)?)?;
                }
                if b.tensor().is_some() && sink.wants(second) {
                    sink.add(second, grad_b(&g, &a, &b)?)?;
                }
                Ok(())
            }
        }))
    }
}

fn detached(operand: &Operand) -> Operand {
    match operand {
        Operand::Tensor(tensor) => Operand::Tensor(tensor.detach()),
        number => number.clone(),
    }
}

/// A number in a computing type.
pub(super) fn number<C: Compute>(value: Number) -> C {
    match value {
        Number::Float(value) => C::from_f64(value),
        Number::Int(value) => C::from_i64(value),
        Number::Bool(value) => C::from_i64(i64::from(value)),
    }
}

impl Tensor {
    /// `x + other`; logical or for bool.
    pub fn add(&self, other: impl Into<Operand>) -> Result<Self> {
        Self::add_operands(self.into(), other.into())
    }

    pub(crate) fn add_operands(a: Operand, b: Operand) -> Result<Self> {
        let pair = Pair::promote("add", a, b, false)?;
        let y = if pair.dtype.is_float() {
            with_real!(pair.dtype, C => pair.run::<C>("add", pair.dtype, |a, b| a + b)?)
        } else {
            pair.run_int("add", i64::wrapping_add)?
        };
        pair.record("add", y, |g, _, _| Ok(g.clone()), |g, _, _| Ok(g.clone()))
    }

    /// `x - other`; not defined for bool.
    pub fn sub(&self, other: impl Into<Operand>) -> Result<Self> {
        Self::sub_operands(self.into(), other.into())
    }

    pub(crate) fn sub_operands(a: Operand, b: Operand) -> Result<Self> {
        let pair = Pair::promote("sub", a, b, false)?;
        let y = match pair.dtype {
            DType::Bool => return Err(Error::misuse("sub", "not defined for bool; use logical_xor or logical_not")),
            dtype if dtype.is_float() => with_real!(dtype, C => pair.run::<C>("sub", dtype, |a, b| a - b)?),
            _ => pair.run_int("sub", i64::wrapping_sub)?,
        };
        pair.record("sub", y, |g, _, _| Ok(g.clone()), |g, _, _| g.neg())
    }

    /// `x * other`; logical and for bool.
    pub fn mul(&self, other: impl Into<Operand>) -> Result<Self> {
        Self::mul_operands(self.into(), other.into())
    }

    pub(crate) fn mul_operands(a: Operand, b: Operand) -> Result<Self> {
        let pair = Pair::promote("mul", a, b, false)?;
        let y = if pair.dtype.is_float() {
            with_real!(pair.dtype, C => pair.run::<C>("mul", pair.dtype, |a, b| a * b)?)
        } else {
            pair.run_int("mul", i64::wrapping_mul)?
        };
        let Pair { a, b, .. } = pair;
        let inputs: Vec<&Self> = [a.tensor(), b.tensor()].into_iter().flatten().collect();
        Ok(record("mul", &inputs, y, |_| {
            let (a, b) = (detached(&a), detached(&b));
            move |g, sink| {
                if a.tensor().is_some() {
                    sink.add_product(0, &g, &b)?;
                }
                if b.tensor().is_some() {
                    sink.add_product(usize::from(a.tensor().is_some()), &g, &a)?;
                }
                Ok(())
            }
        }))
    }

    /// True division; integers become float32.
    pub fn div(&self, other: impl Into<Operand>) -> Result<Self> {
        Self::div_operands(self.into(), other.into())
    }

    pub(crate) fn div_operands(a: Operand, b: Operand) -> Result<Self> {
        let pair = Pair::promote("div", a, b, true)?;
        let y = with_real!(pair.dtype, C => pair.run::<C>("div", pair.dtype, |a, b| a / b)?);
        let by_b = |g: &Self, a: &Operand, b: &Operand| {
            let ratio = Self::div_operands(Self::div_operands(a.clone(), b.clone())?.into(), b.clone())?;
            g.neg()?.mul(&ratio)
        };
        pair.record("div", y, |g, _, b| g.div(b.clone()), by_b)
    }

    /// `floor(x / other)`, towards minus infinity; not differentiable.
    pub fn floor_divide(&self, other: impl Into<Operand>) -> Result<Self> {
        Self::floor_divide_operands(self.into(), other.into())
    }

    pub(crate) fn floor_divide_operands(a: Operand, b: Operand) -> Result<Self> {
        let pair = Pair::promote("floor_divide", a, b, false)?;
        if pair.dtype.is_float() {
            return with_real!(pair.dtype, C => pair.run::<C>("floor_divide", pair.dtype, floor_div));
        }
        pair.refuse_zero_divisor("floor_divide")?;
        pair.run_int("floor_divide", |a, b| a.wrapping_div(b) - i64::from(a.wrapping_rem(b) != 0 && (a < 0) != (b < 0)))
    }

    /// Division rounded towards zero; not differentiable.
    pub fn trunc_divide(&self, other: impl Into<Operand>) -> Result<Self> {
        Self::trunc_divide_operands(self.into(), other.into())
    }

    pub(crate) fn trunc_divide_operands(a: Operand, b: Operand) -> Result<Self> {
        let pair = Pair::promote("div", a, b, false)?;
        if pair.dtype.is_float() {
            return with_real!(pair.dtype, C => pair.run::<C>("div", pair.dtype, |a, b| (a / b).trunc()));
        }
        pair.refuse_zero_divisor("div")?;
        pair.run_int("div", i64::wrapping_div)
    }

    /// `x - other * floor(x / other)`: the sign of the divisor.
    pub fn remainder(&self, other: impl Into<Operand>) -> Result<Self> {
        Self::remainder_operands(self.into(), other.into())
    }

    pub(crate) fn remainder_operands(a: Operand, b: Operand) -> Result<Self> {
        let pair = Pair::promote("remainder", a, b, false)?;
        if pair.dtype.is_float() {
            let y = with_real!(pair.dtype, C => pair.run::<C>("remainder", pair.dtype, remainder)?);
            let by_b =
                |g: &Self, a: &Operand, b: &Operand| g.neg()?.mul(&Self::floor_divide_operands(a.clone(), b.clone())?);
            return pair.record("remainder", y, |g, _, _| Ok(g.clone()), by_b);
        }
        pair.refuse_zero_divisor("remainder")?;
        pair.run_int("remainder", |a, b| {
            let rest = a.wrapping_rem(b);
            if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
        })
    }

    /// `x ^ exponent`; integers to a negative power are refused.
    pub fn pow(&self, exponent: impl Into<Operand>) -> Result<Self> {
        Self::pow_operands(self.into(), exponent.into())
    }

    pub(crate) fn pow_operands(a: Operand, b: Operand) -> Result<Self> {
        if result_type([&a, &b]).is_float() {
            return Self::combine(Pow, a, b);
        }
        let pair = Pair::promote("pow", a, b, false)?;
        let negative = match &pair.b {
            Operand::Number(number) => number.as_i64() < 0,
            Operand::Tensor(tensor) => tensor.as_i64_vec().iter().any(|&exponent| exponent < 0),
        };
        if negative {
            return Err(Error::misuse("pow", "integers to negative powers are not integers; make the base a float"));
        }
        pair.run_int("pow", |a, b| a.wrapping_pow(b.min(i64::from(u32::MAX)) as u32))
    }

    /// The larger of the two; NaN if either is NaN. Ties share the gradient.
    pub fn maximum(&self, other: impl Into<Operand>) -> Result<Self> {
        Self::extremum(Maximum, self.into(), other.into(), i64::max)
    }

    /// The smaller of the two; NaN if either is NaN. Ties share the gradient.
    pub fn minimum(&self, other: impl Into<Operand>) -> Result<Self> {
        Self::extremum(Minimum, self.into(), other.into(), i64::min)
    }

    fn extremum<F: BinaryFn>(f: F, a: Operand, b: Operand, int: impl Fn(i64, i64) -> i64 + Sync) -> Result<Self> {
        if result_type([&a, &b]).is_float() {
            return Self::combine(f, a, b);
        }
        let pair = Pair::promote(F::NAME, a, b, false)?;
        pair.run_int(F::NAME, &int)
    }

    /// `log(e^x + e^other)` without overflow.
    pub fn logaddexp(&self, other: impl Into<Operand>) -> Result<Self> {
        Self::combine(Logaddexp, self.into(), other.into())
    }

    /// `x * log(other)`; 0 where x is 0 and `other` is not NaN.
    pub fn xlogy(&self, other: impl Into<Operand>) -> Result<Self> {
        Self::xlogy_operands(self.into(), other.into())
    }

    pub(crate) fn xlogy_operands(a: Operand, b: Operand) -> Result<Self> {
        Self::combine(Xlogy, a, b)
    }

    /// A float function of two operands with its two derivatives.
    fn combine<F: BinaryFn>(f: F, a: Operand, b: Operand) -> Result<Self> {
        let pair = Pair::promote(F::NAME, a, b, true)?;
        let dtype = pair.dtype;
        let y = with_real!(dtype, C => pair.run::<C>(F::NAME, dtype, |a, b| f.eval(a, b))?);
        let by_a = move |g: &Self, a: &Operand, b: &Operand| with_real!(dtype, C => zip_operands::<C>(F::NAME, g, a, b, |g, a, b| f.grad_a(g, a, b)));
        let by_b = move |g: &Self, a: &Operand, b: &Operand| with_real!(dtype, C => zip_operands::<C>(F::NAME, g, a, b, |g, a, b| f.grad_b(g, a, b)));
        pair.record(F::NAME, y, by_a, by_b)
    }
}

impl Pair {
    fn refuse_zero_divisor(&self, op: &'static str) -> Result<()> {
        let zero = match &self.b {
            Operand::Number(number) => number.as_i64() == 0,
            Operand::Tensor(tensor) => tensor.as_i64_vec().contains(&0),
        };
        if zero { Err(Error::misuse(op, "integer division by zero")) } else { Ok(()) }
    }
}

/// `f(g, a, b)` for every element; numbers stay in the computing type.
fn zip_operands<C: Compute>(
    op: &'static str,
    g: &Tensor,
    a: &Operand,
    b: &Operand,
    f: impl Fn(C, C, C) -> C + Sync,
) -> Result<Tensor> {
    match (a, b) {
        (Operand::Tensor(a), Operand::Tensor(b)) => zip3(op, [g, a, b], g.dtype(), f),
        (Operand::Tensor(a), Operand::Number(b)) => {
            let b = number::<C>(*b);
            zip(op, g, a, g.dtype(), |g, a| f(g, a, b))
        }
        (Operand::Number(a), Operand::Tensor(b)) => {
            let a = number::<C>(*a);
            zip(op, g, b, g.dtype(), |g, b| f(g, a, b))
        }
        (Operand::Number(_), Operand::Number(_)) => unreachable!("promote refuses two numbers"),
    }
}

/// As PyTorch: division by zero gives the infinity or NaN of `a / b`; else the exact quotient's floor.
fn floor_div<R: Real>(a: R, b: R) -> R {
    if b == R::ZERO {
        return a / b;
    }
    let rest = fmod(a, b);
    let mut quotient = (a - rest) / b;
    if rest != R::ZERO && (b < R::ZERO) != (rest < R::ZERO) {
        quotient = quotient - R::ONE;
    }
    if quotient == R::ZERO {
        return R::ZERO * (a / b);
    }
    let floor = quotient.floor();
    if quotient - floor > R::from_f64(0.5) { floor + R::ONE } else { floor }
}

fn remainder<R: Real>(a: R, b: R) -> R {
    let rest = fmod(a, b);
    if rest != R::ZERO && (b < R::ZERO) != (rest < R::ZERO) { rest + b } else { rest }
}

/// C's `fmod`: exact, with the sign of `a`. f32 operands are exact in f64 and so is their remainder.
fn fmod<R: Real>(a: R, b: R) -> R {
    R::from_f64(a.to_f64() % b.to_f64())
}
