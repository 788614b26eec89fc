//! Elements by integer index.

use super::op::{Op, one, op};
use crate::truth::{Operand, Tensor};

pub(super) const OPS: &[Op] = &[
    op("gather", "self: Tensor, dim: integer, index: Tensor", "One element per index along a dim.", |a| {
        one(a.this()?.gather(a.int("dim")?, &a.tensor("index")?))
    }),
    op(
        "scatter",
        "self: Tensor, dim: integer, index: Tensor, src: Tensor|number",
        "`src` written where `index` points along a dim.",
        |a| {
            let (x, dim, index) = (a.this()?, a.int("dim")?, a.tensor("index")?);
            let source = match a.operand("src")? {
                Operand::Tensor(source) => source,
                Operand::Number(value) => Tensor::full(index.shape(), value, Some(x.dtype()))?,
            };
            one(x.scatter(dim, &index, &source))
        },
    ),
    op(
        "scatter_add",
        "self: Tensor, dim: integer, index: Tensor, src: Tensor",
        "`src` added where `index` points along a dim.",
        |a| one(a.this()?.scatter_add(a.int("dim")?, &a.tensor("index")?, &a.tensor("src")?)),
    ),
    op(
        "index_select",
        "self: Tensor, dim: integer, index: Tensor",
        "Slices of a dim in the order of a rank-1 index.",
        |a| one(a.this()?.index_select(a.int("dim")?, &a.tensor("index")?)),
    ),
    op(
        "index_add",
        "self: Tensor, dim: integer, index: Tensor, source: Tensor, options?: { alpha?: number }",
        "`alpha * source` added to the slices of a dim that a rank-1 index names.",
        |a| {
            let (x, dim, index, source) = (a.this()?, a.int("dim")?, a.tensor("index")?, a.tensor("source")?);
            one(x.index_add(dim, &index, &source, a.named_float("alpha", 1.0)?))
        },
    ),
    op(
        "embedding",
        "index: Tensor, weight: Tensor, padding_idx?: integer",
        "Rows of a `[rows, width]` table; row `padding_idx` gets no gradient.",
        |a| {
            let (index, weight) = (a.tensor("index")?, a.tensor("weight")?);
            one(Tensor::embedding(&index, &weight, a.optional_int("padding_idx")?.map(|row| row as i64)))
        },
    ),
];
