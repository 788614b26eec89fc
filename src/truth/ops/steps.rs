//! A loop over time whose step is the caller's, differentiable at the memory of the square root of its length.

use super::several::record_several;
use crate::truth::error::{Error, Result};
use crate::truth::kernel::{add_strided, row_major};
use crate::truth::tape::{Sink, grad};
use crate::truth::tensor::Tensor;

const OP: &str = "scan";

/// Maps carries, then the slices of one step, then constants, to the next carries, then outputs.
pub trait Step: Fn(&[Tensor]) -> Result<Vec<Tensor>> + Send + 'static {}
impl<F: Fn(&[Tensor]) -> Result<Vec<Tensor>> + Send + 'static> Step for F {}

/// Runs `step` over dim 0 of `xs`: returns the last carries, then each output stacked along a new dim 0.
///
/// Carries keep their shapes; carries and outputs share one dtype. One node of the tape: every `sqrt(steps)`-th carry is
/// kept, and the backward pass runs the steps in between once more, one stretch of `sqrt(steps)` on a tape of its own at
/// a time. So the step must be a function of its arguments alone, and gradients reach only what is passed: a step that
/// uses another tensor of the tape is refused. Without steps, one is run on zeros to learn the shapes of the outputs.
pub fn scan(step: impl Step, carries: &[Tensor], xs: &[Tensor], constants: &[Tensor]) -> Result<Vec<Tensor>> {
    let fault = |message: String| Error::misuse(OP, message);
    let steps = match xs.first().map(|x| x.shape().first()) {
        Some(Some(&steps)) => steps,
        _ => return Err(fault("needs at least one tensor with steps along dim 0".into())),
    };
    if let Some(other) = xs.iter().find(|x| x.shape().first() != Some(&steps)) {
        return Err(fault(format!("{} does not have {steps} steps along dim 0", other.describe())));
    }
    let all: Vec<&Tensor> = carries.iter().chain(xs).chain(constants).collect();
    let run = Loop { step, carries: carries.len(), xs: detached(xs), constants: detached(constants) };
    let mut now = detached(carries);
    let stride = (steps as f64).sqrt().ceil().max(1.0) as usize;
    let tracked = all.iter().any(|x| x.is_tracked());
    let (mut kept, mut outputs) = (Vec::new(), Vec::<Vec<Tensor>>::new());
    for t in 0..steps {
        if tracked && t % stride == 0 {
            kept.push(now.clone());
        }
        let mut next = run.checked(&now, &run.slices(t)?)?;
        let out = next.split_off(carries.len());
        if t == 0 {
            outputs = out.into_iter().map(|y| vec![y]).collect();
        } else if out.len() == outputs.len() {
            outputs.iter_mut().zip(out).for_each(|(seen, y)| seen.push(y));
        } else {
            return Err(fault(format!("step {t} gave {} outputs, the first {}", out.len(), outputs.len())));
        }
        now = next;
    }
    for output in outputs {
        now.push(Tensor::stack(&output, 0)?);
    }
    if steps == 0 {
        let zeros = xs.iter().map(|x| Tensor::zeros(&x.shape()[1..], x.dtype())).collect::<Result<Vec<_>>>()?;
        for output in run.checked(&now, &zeros)?.split_off(carries.len()) {
            now.push(Tensor::zeros(&[&[0], output.shape()].concat(), output.dtype())?);
        }
    }
    if let Some(pair) = now.windows(2).find(|pair| pair[0].dtype() != pair[1].dtype()) {
        let (one, other) = (pair[0].dtype(), pair[1].dtype());
        return Err(fault(format!("carries and outputs must share a dtype, got {one} and {other}")));
    }
    record_several(OP, &all, now, || {
        move |grads: &[Tensor], sink: &mut Sink<'_>| run.backward(kept, stride, grads, sink)
    })
}

fn detached(tensors: &[Tensor]) -> Vec<Tensor> {
    tensors.iter().map(Tensor::detach).collect()
}

struct Loop<F> {
    step: F,
    carries: usize,
    xs: Vec<Tensor>,
    constants: Vec<Tensor>,
}

impl<F: Step> Loop<F> {
    /// What step `t` reads.
    fn slices(&self, t: usize) -> Result<Vec<Tensor>> {
        self.xs.iter().map(|x| x.select(0, t as isize)).collect()
    }

    /// One step off the tape.
    fn checked(&self, carries: &[Tensor], slices: &[Tensor]) -> Result<Vec<Tensor>> {
        let next = (self.step)(&[carries, slices, &self.constants].concat())?;
        let fault = |message: String| Err(Error::misuse(OP, message));
        if next.len() < carries.len() {
            return fault(format!("the step returned {} tensors for {} carries", next.len(), carries.len()));
        }
        for (index, (old, new)) in carries.iter().zip(&next).enumerate() {
            if old.shape() != new.shape() || old.dtype() != new.dtype() {
                let number = index + 1;
                return fault(format!("carry {number} is {}, the step made it {}", old.describe(), new.describe()));
            }
        }
        if next.iter().any(Tensor::is_tracked) {
            return fault("the step uses a tensor with gradients that it was not given; pass it as a constant".into());
        }
        Ok(next)
    }

    fn backward(self, kept: Vec<Vec<Tensor>>, stride: usize, grads: &[Tensor], sink: &mut Sink<'_>) -> Result<()> {
        let steps = self.xs[0].shape()[0];
        let (last, outputs) = grads.split_at(self.carries);
        let mut by_carries = last.to_vec();
        let constants = leaves(&self.constants)?;
        // Zeros to add to, also where there are no steps.
        (self.carries..self.carries + self.xs.len() + constants.len())
            .try_for_each(|input| sink.add_part(input, |_| Ok(())))?;
        for (segment, start) in kept.into_iter().enumerate().rev() {
            let first = segment * stride;
            let times = first..(first + stride).min(steps);
            let start = leaves(&start)?;
            let (mut now, mut slices) = (start.clone(), Vec::new());
            let (mut roots, mut cotangents) = (Vec::new(), Vec::new());
            for t in times.clone() {
                let at_t = leaves(&self.slices(t)?)?;
                let mut next = (self.step)(&[&now[..], &at_t, &constants].concat())?;
                roots.extend(next.split_off(self.carries));
                for output in outputs {
                    cotangents.push(output.select(0, t as isize)?);
                }
                slices.push(at_t);
                now = next;
            }
            roots.extend(now);
            cotangents.extend(by_carries);
            let targets: Vec<Tensor> = start.iter().chain(slices.iter().flatten()).chain(&constants).cloned().collect();
            let floats: Vec<Tensor> = targets.iter().filter(|x| x.is_tracked()).cloned().collect();
            let mut found = grad(&roots, &cotangents, &floats)?.into_iter();
            let mut next = |x: &Tensor| match x.is_tracked().then(|| found.next().flatten()).flatten() {
                Some(grad) => Ok(grad),
                None => Tensor::zeros(x.shape(), x.dtype()),
            };
            by_carries = start.iter().map(&mut next).collect::<Result<_>>()?;
            for (t, slices) in times.zip(&slices) {
                for (at, x) in slices.iter().enumerate() {
                    let grad = next(x)?;
                    sink.add_part(self.carries + at, |total| {
                        let strides = row_major(total.shape());
                        add_strided(total, &grad, &strides[1..], t * strides[0] as usize)
                    })?;
                }
            }
            for (at, x) in constants.iter().enumerate() {
                sink.add(self.carries + self.xs.len() + at, next(x)?)?;
            }
        }
        by_carries.into_iter().enumerate().try_for_each(|(at, grad)| sink.add(at, grad))
    }
}

/// Leaves of a tape of their own; integers stay as they are.
fn leaves(tensors: &[Tensor]) -> Result<Vec<Tensor>> {
    tensors.iter().map(|x| if x.dtype().is_float() { x.requires_grad() } else { Ok(x.clone()) }).collect()
}
