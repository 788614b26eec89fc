//! Ops with several outputs. The tape knows one output per node, so they share a flat one and are views into it.

use crate::truth::error::Result;
use crate::truth::tape::{Sink, record};
use crate::truth::tensor::Tensor;

/// As [`record`] for outputs of one dtype; `backward` gets a gradient for each. Nothing is copied off the tape.
pub(super) fn record_several<F>(
    op: &'static str,
    inputs: &[&Tensor],
    outputs: Vec<Tensor>,
    backward: impl FnOnce() -> F,
) -> Result<Vec<Tensor>>
where
    F: FnOnce(&[Tensor], &mut Sink<'_>) -> Result<()> + Send + 'static,
{
    if inputs.iter().all(|input| !input.is_tracked()) {
        return Ok(outputs);
    }
    let shapes: Vec<Vec<usize>> = outputs.iter().map(|output| output.shape().to_vec()).collect();
    let flat: Vec<Tensor> = outputs.iter().map(|output| output.with_shape(vec![output.numel()])).collect();
    let flat = Tensor::cat(&flat, 0)?;
    let of_backward = shapes.clone();
    let flat = record(op, inputs, flat, |_| {
        let backward = backward();
        move |g: Tensor, sink: &mut Sink<'_>| backward(&views(&g, &of_backward)?, sink)
    });
    views(&flat, &shapes)
}

fn views(flat: &Tensor, shapes: &[Vec<usize>]) -> Result<Vec<Tensor>> {
    let mut start = 0;
    let view = |shape: &Vec<usize>| {
        let len = shape.iter().product();
        start += len;
        flat.narrow(0, (start - len) as isize, len)?.reshape_to(shape.clone())
    };
    shapes.iter().map(view).collect()
}
