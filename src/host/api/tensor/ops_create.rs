//! Making tensors, and taking them apart into Lua values.

use mlua::Value;

use super::args::{Args, as_list, as_number, describe};
use super::op::{Op, Returned, one, op};
use crate::model::DType;
use crate::truth::{Number, Result, Tensor, grad, promote_types};

const F32: DType = DType::F32;

pub(super) const OPS: &[Op] = &[
    op(
        "tensor",
        "data: number|boolean|table, dtype?: tensor.DType",
        "A tensor of a number or of nested lists of numbers; float32, int64 or bool unless a dtype is given.",
        |a| {
            let data = a.value("data")?;
            let dtype = a.dtype("dtype")?;
            one(from_lists(a, &data, dtype))
        },
    ),
    op(
        "zeros",
        "shape: integer|integer[], options?: tensor.Options",
        "Every element 0; float32 unless `dtype` is given.",
        |a| {
            let (shape, dtype) = (a.sizes("shape")?, a.named_dtype()?);
            one(Tensor::zeros(&shape, dtype.unwrap_or(F32)))
        },
    ),
    op(
        "ones",
        "shape: integer|integer[], options?: tensor.Options",
        "Every element 1; float32 unless `dtype` is given.",
        |a| {
            let (shape, dtype) = (a.sizes("shape")?, a.named_dtype()?);
            one(Tensor::ones(&shape, dtype.unwrap_or(F32)))
        },
    ),
    op(
        "full",
        "shape: integer[], value: number|boolean, options?: tensor.Options",
        "Every element `value`; float32, int64 or bool by the value unless `dtype` is given.",
        |a| {
            let shape = a.dims("shape")?;
            let (value, dtype) = (a.number("value")?, a.named_dtype()?);
            let sizes = shape.iter().map(|&extent| usize::try_from(extent)).collect::<Result<Vec<_>, _>>();
            let sizes = sizes.map_err(|_| a.fault(format!("argument 'shape' has a negative extent: {shape:?}")))?;
            one(Tensor::full(&sizes, value, dtype))
        },
    ),
    op(
        "eye",
        "n: integer, m?: integer, options?: tensor.Options",
        "The identity matrix, `n` rows and `m` (or n) columns.",
        |a| {
            let rows = a.size("n")?;
            let columns = a.optional_int("m")?.map_or(Ok(rows), usize::try_from);
            let columns = columns.map_err(|_| a.fault("argument 'm' is negative".into()))?;
            one(Tensor::eye(rows, columns, a.named_dtype()?.unwrap_or(F32)))
        },
    ),
    op(
        "arange",
        "start: number, stop?: number, step?: number, options?: tensor.Options",
        "`start, start + step, …` below `stop`; with one number, from 0 below it. int64 if all are integers, else float32.",
        |a| {
            let (first, second, step) = (a.number("start")?, a.optional_number("stop")?, a.optional_number("step")?);
            let (start, end) = second.map_or((Number::Int(0), first), |end| (first, end));
            one(Tensor::arange(start, end, step.unwrap_or(Number::Int(1)), a.named_dtype()?))
        },
    ),
    op(
        "linspace",
        "start: number, stop: number, steps: integer, options?: tensor.Options",
        "`steps` evenly spaced values from `start` to `stop`, both included.",
        |a| {
            let (start, end) = (a.number("start")?.as_f64(), a.number("stop")?.as_f64());
            one(Tensor::linspace(start, end, a.size("steps")?, a.named_dtype()?.unwrap_or(F32)))
        },
    ),
    op(
        "zeros_like",
        "self: Tensor, options?: tensor.Options",
        "Zeros of this shape, and dtype unless one is given.",
        |a| {
            let x = a.this()?;
            one(Tensor::zeros(x.shape(), a.named_dtype()?.unwrap_or(x.dtype())))
        },
    ),
    op(
        "ones_like",
        "self: Tensor, options?: tensor.Options",
        "Ones of this shape, and dtype unless one is given.",
        |a| {
            let x = a.this()?;
            one(Tensor::ones(x.shape(), a.named_dtype()?.unwrap_or(x.dtype())))
        },
    ),
    op(
        "full_like",
        "self: Tensor, value: number|boolean, options?: tensor.Options",
        "`value` in this shape, and dtype unless one is given.",
        |a| {
            let (x, value) = (a.this()?, a.number("value")?);
            one(Tensor::full(x.shape(), value, Some(a.named_dtype()?.unwrap_or(x.dtype()))))
        },
    ),
    op(
        "to",
        "self: Tensor, dtype: tensor.DType",
        "Elements converted to `dtype`; the same tensor if it already has it.",
        |a| {
            let (x, dtype) = (a.this()?, a.dtype("dtype")?);
            let dtype = dtype.ok_or_else(|| a.fault("argument 'dtype' is missing".into()))?;
            one(x.to_dtype(dtype))
        },
    ),
    op("upcast", "self: Tensor", "float16 and bfloat16 become float32; other dtypes stay.", |a| {
        one(a.this()?.upcast())
    }),
    op("detach", "self: Tensor", "The same elements, through which no gradient flows.", |a| {
        one(Ok(a.this()?.detach()))
    }),
    op("item", "self: Tensor -> number|boolean", "The only element of a one-element tensor.", |a| {
        a.this()?.item().map(Returned::Number)
    }),
    op("tolist", "self: Tensor -> table|number|boolean", "The elements as nested lists.", |a| {
        Ok(Returned::List(a.this()?))
    }),
    op("requires_grad", "self: Tensor", "A leaf with these elements that `tensor.grad` can differentiate by.", |a| {
        one(a.this()?.requires_grad())
    }),
    op(
        "grad",
        "outputs: Tensor[], cotangents: Tensor[], inputs: Tensor[] -> Tensor?...",
        "Gradients of `sum(outputs * cotangents)` by each input, nil where there is no dependence. Releases the saved intermediates.",
        |a| {
            let (outputs, cotangents, inputs) = (a.tensors("outputs")?, a.tensors("cotangents")?, a.tensors("inputs")?);
            grad(&outputs, &cotangents, &inputs).map(Returned::Tensors)
        },
    ),
];

/// A tensor of nested sequences whose lengths agree at each depth.
fn from_lists(args: &Args, data: &Value, dtype: Option<DType>) -> Result<Tensor> {
    let mut shape = Vec::new();
    let mut depth = data.clone();
    while let Some(items) = as_list(&depth) {
        shape.push(items.len());
        match items.into_iter().next() {
            Some(first) => depth = first,
            None => break,
        }
    }
    let mut numbers = Vec::new();
    collect_numbers(args, data, &shape, &mut numbers)?;
    let own = numbers.iter().map(|number: &Number| number.dtype()).reduce(promote_types).unwrap_or(F32);
    let dtype = dtype.unwrap_or(own);
    if own.is_float() {
        let values: Vec<f64> = numbers.iter().map(|number| number.as_f64()).collect();
        return Tensor::from_f64(&shape, &values)?.to_dtype(dtype);
    }
    let values: Vec<i64> = numbers.iter().map(|number| number.as_i64()).collect();
    Tensor::from_i64(&shape, &values)?.to_dtype(dtype)
}

fn collect_numbers(args: &Args, data: &Value, shape: &[usize], numbers: &mut Vec<Number>) -> Result<()> {
    let Some((&extent, inner)) = shape.split_first() else {
        let number = as_number(data);
        numbers.push(number.ok_or_else(|| args.fault(format!("expected a number, got {}", describe(data))))?);
        return Ok(());
    };
    match as_list(data) {
        Some(items) if items.len() == extent => {
            items.iter().try_for_each(|item| collect_numbers(args, item, inner, numbers))
        }
        Some(items) => Err(args.fault(format!("a list has {} items where another has {extent}", items.len()))),
        None => Err(args.fault(format!("expected a list of {extent} items, got {}", describe(data)))),
    }
}
