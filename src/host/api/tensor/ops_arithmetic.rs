//! Arithmetic, comparisons and logic of two or three operands.

use super::op::{Op, one, op};
use crate::truth::Tensor;

pub(super) const OPS: &[Op] = &[
    op("add", "self: Tensor|number, other: Tensor|number", "`self + other`.", |a| {
        one(Tensor::add_operands(a.operand("self")?, a.operand("other")?))
    }),
    op("sub", "self: Tensor|number, other: Tensor|number", "`self - other`.", |a| {
        one(Tensor::sub_operands(a.operand("self")?, a.operand("other")?))
    }),
    op("mul", "self: Tensor|number, other: Tensor|number", "`self * other`.", |a| {
        one(Tensor::mul_operands(a.operand("self")?, a.operand("other")?))
    }),
    op(
        "div",
        "self: Tensor|number, other: Tensor|number, options?: { rounding_mode?: \"floor\"|\"trunc\" }",
        "`self / other`; integers become float32 unless a rounding mode is given.",
        |a| {
            let (x, other) = (a.operand("self")?, a.operand("other")?);
            match a.named_string("rounding_mode")?.as_deref() {
                None => one(Tensor::div_operands(x, other)),
                Some("floor") => one(Tensor::floor_divide_operands(x, other)),
                Some("trunc") => one(Tensor::trunc_divide_operands(x, other)),
                Some(mode) => Err(a.fault(format!("rounding_mode '{mode}' is neither 'floor' nor 'trunc'"))),
            }
        },
    ),
    op(
        "floor_divide",
        "self: Tensor|number, other: Tensor|number",
        "`self // other`: the quotient's floor; not differentiable.",
        |a| one(Tensor::floor_divide_operands(a.operand("self")?, a.operand("other")?)),
    ),
    op("remainder", "self: Tensor|number, other: Tensor|number", "`self % other`, with the divisor's sign.", |a| {
        one(Tensor::remainder_operands(a.operand("self")?, a.operand("other")?))
    }),
    op("pow", "self: Tensor|number, exponent: Tensor|number", "`self ^ exponent`.", |a| {
        one(Tensor::pow_operands(a.operand("self")?, a.operand("exponent")?))
    }),
    op(
        "maximum",
        "self: Tensor, other: Tensor|number",
        "The larger of two; NaN if either is; ties share the gradient.",
        |a| one(a.this()?.maximum(a.operand("other")?)),
    ),
    op(
        "minimum",
        "self: Tensor, other: Tensor|number",
        "The smaller of two; NaN if either is; ties share the gradient.",
        |a| one(a.this()?.minimum(a.operand("other")?)),
    ),
    op("logaddexp", "self: Tensor, other: Tensor|number", "`log(exp(self) + exp(other))`.", |a| {
        one(a.this()?.logaddexp(a.operand("other")?))
    }),
    op("xlogy", "self: Tensor|number, other: Tensor|number", "`self * log(other)`, 0 where self is 0.", |a| {
        one(Tensor::xlogy_operands(a.operand("self")?, a.operand("other")?))
    }),
    op(
        "addcmul",
        "self: Tensor, tensor1: Tensor, tensor2: Tensor, options?: { value?: number }",
        "`self + value * tensor1 * tensor2`, rounded once.",
        |a| {
            let (x, first, second) = (a.this()?, a.tensor("tensor1")?, a.tensor("tensor2")?);
            one(x.addcmul(&first, &second, a.named_float("value", 1.0)?))
        },
    ),
    op("lerp", "self: Tensor, end: Tensor, weight: Tensor|number", "`self + weight * (end - self)`.", |a| {
        one(a.this()?.lerp(&a.tensor("end")?, a.operand("weight")?))
    }),
    op(
        "where",
        "condition: Tensor, x: Tensor|number, other: Tensor|number",
        "`x` where `condition` (bool) is true, else `other`.",
        |a| one(Tensor::select_where(&a.tensor("condition")?, a.operand("x")?, a.operand("other")?)),
    ),
    op("masked_fill", "self: Tensor, mask: Tensor, value: number", "`value` where `mask` (bool) is true.", |a| {
        one(a.this()?.masked_fill(&a.tensor("mask")?, a.number("value")?))
    }),
    op("eq", "self: Tensor, other: Tensor|number", "Whether elements are equal; NaN equals nothing.", |a| {
        one(a.this()?.eq(a.operand("other")?))
    }),
    op("ne", "self: Tensor, other: Tensor|number", "Whether elements differ.", |a| {
        one(a.this()?.ne(a.operand("other")?))
    }),
    op("lt", "self: Tensor, other: Tensor|number", "Whether `self < other`.", |a| {
        one(a.this()?.lt(a.operand("other")?))
    }),
    op("le", "self: Tensor, other: Tensor|number", "Whether `self <= other`.", |a| {
        one(a.this()?.le(a.operand("other")?))
    }),
    op("gt", "self: Tensor, other: Tensor|number", "Whether `self > other`.", |a| {
        one(a.this()?.gt(a.operand("other")?))
    }),
    op("ge", "self: Tensor, other: Tensor|number", "Whether `self >= other`.", |a| {
        one(a.this()?.ge(a.operand("other")?))
    }),
    op("logical_and", "self: Tensor, other: Tensor|number", "Whether both are non-zero.", |a| {
        one(a.this()?.logical_and(a.operand("other")?))
    }),
    op("logical_or", "self: Tensor, other: Tensor|number", "Whether either is non-zero.", |a| {
        one(a.this()?.logical_or(a.operand("other")?))
    }),
    op("logical_xor", "self: Tensor, other: Tensor|number", "Whether exactly one is non-zero.", |a| {
        one(a.this()?.logical_xor(a.operand("other")?))
    }),
    op("logical_not", "self: Tensor", "Whether the element is zero.", |a| one(a.this()?.logical_not())),
    op("equal", "self: Tensor, other: Tensor -> boolean", "Whether shape, dtype and every element are equal.", |a| {
        Ok(super::op::Returned::Number(a.this()?.equal(&a.tensor("other")?).into()))
    }),
    op(
        "allclose",
        "self: Tensor, other: Tensor, rtol?: number, atol?: number -> boolean",
        "Whether `|self - other| <= atol + rtol * |other|` everywhere; rtol 1e-5 and atol 1e-8 by default.",
        |a| {
            let (x, other) = (a.this()?, a.tensor("other")?);
            let close = x.allclose(&other, a.float("rtol", 1e-5)?, a.float("atol", 1e-8)?)?;
            Ok(super::op::Returned::Number(close.into()))
        },
    ),
];
