//! Shapes, parts, joining and padding.

use super::op::{Op, many, one, op};
use crate::truth::{Number, Tensor};

pub(super) const OPS: &[Op] = &[
    op(
        "reshape",
        "self: Tensor, shape: integer|integer[], ...: integer",
        "The same elements under another shape; one extent may be -1.",
        |a| one(a.this()?.reshape(&a.ints("shape")?)),
    ),
    op("view", "self: Tensor, shape: integer|integer[], ...: integer", "As reshape.", |a| {
        one(a.this()?.reshape(&a.ints("shape")?))
    }),
    op(
        "flatten",
        "self: Tensor, start_dim?: integer, end_dim?: integer",
        "Dims `start_dim` to `end_dim` (all by default) as one.",
        |a| one(a.this()?.flatten(a.int_or("start_dim", 0)?, a.int_or("end_dim", -1)?)),
    ),
    op("unflatten", "self: Tensor, dim: integer, sizes: integer[]", "One dim as several; one size may be -1.", |a| {
        one(a.this()?.unflatten(a.int("dim")?, &a.dims("sizes")?))
    }),
    op("permute", "self: Tensor, dims: integer|integer[], ...: integer", "Dims in the order given.", |a| {
        one(a.this()?.permute(&a.ints("dims")?))
    }),
    op("transpose", "self: Tensor, dim0: integer, dim1: integer", "Two dims swapped.", |a| {
        one(a.this()?.transpose(a.int("dim0")?, a.int("dim1")?))
    }),
    op(
        "squeeze",
        "self: Tensor, dim?: integer|integer[]",
        "Without the dims of extent 1 (those named, or all).",
        |a| one(a.this()?.squeeze(&a.dims("dim")?)),
    ),
    op("unsqueeze", "self: Tensor, dim: integer", "A new dim of extent 1 before `dim`.", |a| {
        one(a.this()?.unsqueeze(a.int("dim")?))
    }),
    op(
        "expand",
        "self: Tensor, shape: integer|integer[], ...: integer",
        "Dims of extent 1 grown to `shape`; -1 keeps an extent.",
        |a| one(a.this()?.expand(&a.ints("shape")?)),
    ),
    op("broadcast_to", "self: Tensor, shape: integer[]", "As expand, every extent given.", |a| {
        one(a.this()?.broadcast_to(&a.sizes("shape")?))
    }),
    op("contiguous", "self: Tensor", "The tensor itself: tensors are always contiguous.", |a| one(a.this())),
    op("select", "self: Tensor, dim: integer, index: integer", "Element `index` of a dim, which disappears.", |a| {
        one(a.this()?.select(a.int("dim")?, a.int("index")?))
    }),
    op(
        "narrow",
        "self: Tensor, dim: integer, start: integer, length: integer",
        "`length` elements of a dim from `start`.",
        |a| one(a.this()?.narrow(a.int("dim")?, a.int("start")?, a.size("length")?)),
    ),
    op(
        "slice",
        "self: Tensor, dim: integer, start?: integer, stop?: integer, step?: integer",
        "Every `step`-th element of a dim in `start .. stop`, 0-based and half-open; negative positions count from the end.",
        |a| {
            let (x, dim) = (a.this()?, a.int("dim")?);
            let (start, stop, step) = (a.optional_int("start")?, a.optional_int("stop")?, a.int_or("step", 1)?);
            let step = usize::try_from(step).map_err(|_| a.fault(format!("step {step} is negative; use flip")))?;
            one(x.slice_dim(dim, start, stop, step))
        },
    ),
    op("cat", "tensors: Tensor[], dim?: integer", "Tensors joined along a dim (0 by default).", |a| {
        one(Tensor::cat(&a.tensors("tensors")?, a.int_or("dim", 0)?))
    }),
    op(
        "stack",
        "tensors: Tensor[], dim?: integer",
        "Tensors of one shape joined along a new dim (0 by default).",
        |a| one(Tensor::stack(&a.tensors("tensors")?, a.int_or("dim", 0)?)),
    ),
    op(
        "split",
        "self: Tensor, size: integer|integer[], dim?: integer -> Tensor...",
        "Consecutive parts of one size, or of the listed sizes, along a dim (0 by default).",
        |a| {
            let (x, value) = (a.this()?, a.value("size")?);
            let dim = a.int_or("dim", 0)?;
            if let mlua::Value::Integer(size) = value {
                let size = usize::try_from(size).map_err(|_| a.fault(format!("part size {size} is negative")))?;
                return many(x.split(size, dim));
            }
            let sizes = super::args::as_list(&value)
                .and_then(|items| items.iter().map(mlua::Value::as_usize).collect::<Option<Vec<_>>>());
            let sizes = sizes.ok_or_else(|| {
                a.fault(format!(
                    "argument 'size' must be an integer or a list of integers, got {}",
                    super::args::describe(&value)
                ))
            })?;
            many(x.split_sizes(&sizes, dim))
        },
    ),
    op(
        "chunk",
        "self: Tensor, chunks: integer, dim?: integer -> Tensor...",
        "At most `chunks` parts of equal size (the last may be smaller) along a dim (0 by default).",
        |a| many(a.this()?.chunk(a.size("chunks")?, a.int_or("dim", 0)?)),
    ),
    op(
        "unbind",
        "self: Tensor, dim?: integer -> Tensor...",
        "The elements of a dim (0 by default), without that dim.",
        |a| many(a.this()?.unbind(a.int_or("dim", 0)?)),
    ),
    op(
        "tile",
        "self: Tensor, repeats: integer|integer[], ...: integer",
        "The whole tensor repeated along each dim, last dim last (PyTorch's `repeat`, which is a keyword of Lua).",
        |a| {
            let (x, mut repeats) = (a.this()?, a.sizes("repeats")?);
            let missing = x.ndim().saturating_sub(repeats.len());
            repeats.splice(0..0, std::iter::repeat_n(1, missing));
            one(x.repeat(&repeats))
        },
    ),
    op(
        "repeat_interleave",
        "self: Tensor, repeats: integer, dim?: integer",
        "Each element repeated in a row along a dim, or of all elements.",
        |a| one(a.this()?.repeat_interleave(a.size("repeats")?, a.optional_int("dim")?)),
    ),
    op(
        "pad",
        "self: Tensor, amounts: integer[], value?: number",
        "`value` (0 by default) around the tensor: before and after the last dim, then the one before it, …",
        |a| {
            let (x, amounts, value) = (a.this()?, a.dims("amounts")?, a.optional_number("value")?);
            one(x.pad(&amounts, value.unwrap_or(Number::Int(0))))
        },
    ),
    op("flip", "self: Tensor, dims: integer|integer[]", "Dims reversed.", |a| one(a.this()?.flip(&a.ints("dims")?))),
    op(
        "roll",
        "self: Tensor, shift: integer, dim?: integer",
        "Elements shifted along a dim (or all elements), wrapping around.",
        |a| one(a.this()?.roll(a.int("shift")?, a.optional_int("dim")?)),
    ),
    op(
        "diagonal",
        "self: Tensor, offset?: integer, dim1?: integer, dim2?: integer",
        "A diagonal of two dims (0 and 1 by default) as a last dim.",
        |a| {
            let (x, offset) = (a.this()?, a.int_or("offset", 0)?);
            one(x.diagonal(offset, a.int_or("dim1", 0)?, a.int_or("dim2", 1)?))
        },
    ),
    op("diag_embed", "self: Tensor, offset?: integer", "Matrices whose diagonal is the last dim.", |a| {
        one(a.this()?.diag_embed(a.int_or("offset", 0)?))
    }),
];
