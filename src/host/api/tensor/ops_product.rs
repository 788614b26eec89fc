//! Matrix products.

use super::op::{Op, one, op};
use crate::truth::Tensor;

pub(super) const OPS: &[Op] = &[
    op(
        "matmul",
        "self: Tensor, other: Tensor",
        "Matrix product over the last two dims; others are broadcast; vectors are rows on the left, columns on the right.",
        |a| one(a.this()?.matmul(&a.tensor("other")?)),
    ),
    op("bmm", "self: Tensor, other: Tensor", "Product of two rank-3 stacks of matrices.", |a| {
        one(a.this()?.bmm(&a.tensor("other")?))
    }),
    op(
        "addmm",
        "self: Tensor, mat1: Tensor, mat2: Tensor, options?: { beta?: number, alpha?: number }",
        "`beta * self + alpha * mat1 @ mat2`.",
        |a| {
            let (x, first, second) = (a.this()?, a.tensor("mat1")?, a.tensor("mat2")?);
            one(x.addmm(&first, &second, a.named_float("beta", 1.0)?, a.named_float("alpha", 1.0)?))
        },
    ),
    op(
        "linear",
        "self: Tensor, weight: Tensor, bias?: Tensor",
        "`self @ weight^T + bias` over the last dim; `weight` is `[out, in]`.",
        |a| one(a.this()?.linear(&a.tensor("weight")?, a.optional_tensor("bias")?.as_ref())),
    ),
    op(
        "einsum",
        "equation: string, operands: Tensor|Tensor[], ...: Tensor",
        "Einstein summation: `tensor.einsum(\"bij,bjk->bik\", x, y)`.",
        |a| {
            let equation = a.string("equation")?;
            let equation = equation.ok_or_else(|| a.fault("argument 'equation' is missing".into()))?;
            one(Tensor::einsum(&equation, &a.remaining_tensors("operands")?))
        },
    ),
];
