//! Reductions, softmax and running sums.

use super::args::Args;
use super::op::{Op, Returned, many, one, op};
use crate::truth::{Result, Tensor};

const DIMS: &str = "self: Tensor, dim?: integer|integer[], keepdim?: boolean";

pub(super) const OPS: &[Op] = &[
    op("sum", DIMS, "Sum over dims (all of them if none is given); integers sum to int64.", |a| {
        over_dims(a, Tensor::sum)
    }),
    op("mean", DIMS, "Mean over dims.", |a| over_dims(a, Tensor::mean)),
    op("amax", DIMS, "Largest element over dims; NaN if any is; ties share the gradient.", |a| {
        over_dims(a, Tensor::amax)
    }),
    op("amin", DIMS, "Smallest element over dims; NaN if any is; ties share the gradient.", |a| {
        over_dims(a, Tensor::amin)
    }),
    op("any", DIMS, "Whether any element over dims is non-zero.", |a| over_dims(a, Tensor::any)),
    op("all", DIMS, "Whether all elements over dims are non-zero.", |a| over_dims(a, Tensor::all)),
    op("logsumexp", DIMS, "`log(sum(exp(self)))` over dims.", |a| over_dims(a, Tensor::logsumexp)),
    op("prod", "self: Tensor, dim?: integer, keepdim?: boolean", "Product along a dim, or of all elements.", |a| {
        one(a.this()?.prod(a.optional_int("dim")?, a.flag("keepdim")?))
    }),
    op(
        "var",
        "self: Tensor, dim?: integer|integer[], options?: { correction?: number, keepdim?: boolean }",
        "Variance over dims: squared deviations over `n - correction` (1 by default).",
        |a| moment(a, Tensor::var),
    ),
    op(
        "std",
        "self: Tensor, dim?: integer|integer[], options?: { correction?: number, keepdim?: boolean }",
        "Square root of the variance over dims.",
        |a| moment(a, Tensor::std),
    ),
    op(
        "norm",
        "self: Tensor, p?: number, dim?: integer|integer[], keepdim?: boolean",
        "The p-norm over dims (p 2 by default).",
        |a| {
            let (x, p) = (a.this()?, a.float("p", 2.0)?);
            one(x.norm(p, &a.dims("dim")?, a.flag("keepdim")?))
        },
    ),
    op(
        "max",
        "self: Tensor, dim?: integer, keepdim?: boolean -> Tensor, Tensor?",
        "Largest element; along a dim, also its first position.",
        |a| pick(a, Tensor::max_dim, Tensor::amax),
    ),
    op(
        "min",
        "self: Tensor, dim?: integer, keepdim?: boolean -> Tensor, Tensor?",
        "Smallest element; along a dim, also its first position.",
        |a| pick(a, Tensor::min_dim, Tensor::amin),
    ),
    op(
        "argmax",
        "self: Tensor, dim?: integer, keepdim?: boolean",
        "First position of the largest element along a dim, or of all elements.",
        |a| one(a.this()?.argmax(a.optional_int("dim")?, a.flag("keepdim")?)),
    ),
    op(
        "argmin",
        "self: Tensor, dim?: integer, keepdim?: boolean",
        "First position of the smallest element along a dim, or of all elements.",
        |a| one(a.this()?.argmin(a.optional_int("dim")?, a.flag("keepdim")?)),
    ),
    op(
        "softmax",
        "self: Tensor, dim: integer, options?: tensor.Options",
        "`exp(self) / sum(exp(self))` along a dim.",
        |a| one(a.this()?.softmax(a.int("dim")?, a.named_dtype()?)),
    ),
    op(
        "log_softmax",
        "self: Tensor, dim: integer, options?: tensor.Options",
        "`log(softmax(self))` along a dim.",
        |a| one(a.this()?.log_softmax(a.int("dim")?, a.named_dtype()?)),
    ),
    op("cumsum", "self: Tensor, dim: integer", "Running sum along a dim.", |a| one(a.this()?.cumsum(a.int("dim")?))),
];

fn over_dims(a: &mut Args, f: impl Fn(&Tensor, &[isize], bool) -> Result<Tensor>) -> Result<Returned> {
    let (x, dims) = (a.this()?, a.dims("dim")?);
    one(f(&x, &dims, a.flag("keepdim")?))
}

fn moment(a: &mut Args, f: impl Fn(&Tensor, &[isize], f64, bool) -> Result<Tensor>) -> Result<Returned> {
    let (x, dims) = (a.this()?, a.dims("dim")?);
    let correction = a.named_float("correction", 1.0)?;
    one(f(&x, &dims, correction, a.named_flag("keepdim")?))
}

fn pick(
    a: &mut Args,
    along: impl Fn(&Tensor, isize, bool) -> Result<(Tensor, Tensor)>,
    whole: impl Fn(&Tensor, &[isize], bool) -> Result<Tensor>,
) -> Result<Returned> {
    let (x, dim, keepdim) = (a.this()?, a.optional_int("dim")?, a.flag("keepdim")?);
    match dim {
        Some(dim) => many(along(&x, dim, keepdim).map(|(values, indices)| vec![values, indices])),
        None => one(whole(&x, &[], keepdim)),
    }
}
