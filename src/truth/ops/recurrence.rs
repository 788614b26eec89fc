//! Linear attention's recurrence, in all its gated and delta-rule forms, as one op.

use super::several::record_several;
use crate::truth::element::{Real, compute_dtype, with_real};
use crate::truth::error::{Error, Result};
use crate::truth::kernel::recurrence::{Erase, Gradients, Operands, Recurrence, backward, forward};
use crate::truth::storage::Storage;
use crate::truth::tape::Sink;
use crate::truth::tensor::Tensor;

const OP: &str = "linear_recurrence";

/// What [`Tensor::linear_recurrence`] may be given beside `q`, `k` and `v`.
#[derive(Clone, Debug, Default)]
pub struct LinearRecurrence {
    /// `[…, steps, keys]`, or `[…, steps, 1]` for all keys alike; 1 if absent.
    pub decay: Option<Tensor>,
    /// `a` and `b`, `[…, steps, keys]` each.
    pub erase: Option<(Tensor, Tensor)>,
    /// `[…, keys, values]`; zeros if absent.
    pub state: Option<Tensor>,
    pub read_first: bool,
    pub transposed: bool,
    pub erase_undecayed: bool,
}

impl Tensor {
    /// `S_t = diag(decay_t) S_{t-1} + b_t (a_t^T diag(decay_t) S_{t-1}) + k_t v_t^T` and `o_t = q_t^T S_t`, for `k` of
    /// `[…, steps, keys]` and `v` of `[…, steps, values]`: returns `o` of `[…, steps, values]` and the last state.
    ///
    /// With `erase_undecayed`, `a` reads `S_{t-1}`; with `read_first`, so does `q`; with `transposed`, `q` has the width
    /// of `v`, and `o_t = S_t q_t` that of `k`. The half types compute in float32. One node of the tape whatever the
    /// number of steps: the backward pass recomputes states from `sqrt(steps)` of them (about one more forward pass),
    /// row by row.
    pub fn linear_recurrence(q: &Self, k: &Self, v: &Self, options: &LinearRecurrence) -> Result<(Self, Self)> {
        let shape = extents(q, k, v, options)?;
        let dtype = q.dtype();
        let wide = compute_dtype(dtype);
        let lead = &k.shape()[..k.ndim() - 2];
        let with_lead = |tail: [usize; 2]| [lead, &tail[..]].concat();
        let decay = match &options.decay {
            Some(decay) => decay.broadcast_to(k.shape())?,
            None => Self::ones(k.shape(), dtype)?,
        };
        let state = match &options.state {
            Some(state) => state.clone(),
            None => Self::zeros(&with_lead([shape.keys, shape.values]), dtype)?,
        };
        let mut operands = vec![q.clone(), k.clone(), v.clone(), decay, state];
        operands.extend(options.erase.iter().flat_map(|(a, b)| [a.clone(), b.clone()]));
        let operands = operands.iter().map(|x| x.to_dtype(wide)).collect::<Result<Vec<_>>>()?;
        let outputs = [with_lead([shape.steps, shape.read_widths().1]), with_lead([shape.keys, shape.values])];
        let results = with_real!(wide, T => run_forward::<T>(shape, &operands, &outputs)?);
        let inputs: Vec<&Self> = operands.iter().collect();
        let results = record_several(OP, &inputs, results, || {
            let operands: Vec<Self> = operands.iter().map(Self::detach).collect();
            move |grads: &[Self], sink: &mut Sink<'_>| {
                let grads = with_real!(wide, T => run_backward::<T>(shape, &operands, grads)?);
                grads.into_iter().enumerate().try_for_each(|(input, grad)| sink.add(input, grad))
            }
        })?;
        Ok((results[0].to_dtype(dtype)?, results[1].to_dtype(dtype)?))
    }
}

fn slices<T: Real>(operands: &[Tensor]) -> Operands<'_, T> {
    Operands {
        q: operands[0].slice(),
        k: operands[1].slice(),
        v: operands[2].slice(),
        decay: operands[3].slice(),
        state: operands[4].slice(),
        erase: operands.get(5).map(|a| Erase { a: a.slice(), b: operands[6].slice() }),
    }
}

fn run_forward<T: Real>(shape: Recurrence, operands: &[Tensor], outputs: &[Vec<usize>; 2]) -> Result<Vec<Tensor>> {
    let [of_out, of_state] = outputs;
    let mut out = Storage::scratch(OP, T::DTYPE, of_out)?;
    let mut last = Storage::scratch(OP, T::DTYPE, of_state)?;
    forward::<T>(shape, &slices(operands), out.slice_mut(), last.slice_mut());
    Ok(vec![Tensor::new(out, of_out.clone()), Tensor::new(last, of_state.clone())])
}

fn run_backward<T: Real>(shape: Recurrence, operands: &[Tensor], grads: &[Tensor]) -> Result<Vec<Tensor>> {
    let scratch = |x: &Tensor| Storage::scratch(OP, T::DTYPE, x.shape());
    let mut storages = operands.iter().map(scratch).collect::<Result<Vec<_>>>()?;
    let mut targets = storages.iter_mut().map(Storage::slice_mut::<T>);
    let mut next = || targets.next().unwrap_or_default();
    let (q, k, v, decay, state, a, b) = (next(), next(), next(), next(), next(), next(), next());
    let targets = Gradients { q, k, v, decay, a, b, state };
    backward::<T>(shape, &slices(operands), grads[0].slice(), grads[1].slice(), targets);
    Ok(storages.into_iter().zip(operands).map(|(grad, x)| Tensor::new(grad, x.shape().to_vec())).collect())
}

/// Checks that everything fits together.
fn extents(q: &Tensor, k: &Tensor, v: &Tensor, options: &LinearRecurrence) -> Result<Recurrence> {
    let fault = |message: String| Error::misuse(OP, message);
    let (&[.., steps, keys], Some(&values)) = (k.shape(), v.shape().last()) else {
        let message = format!(
            "expected k [..., steps, keys] and v [..., steps, values], got {:?} and {:?}",
            k.shape(),
            v.shape()
        );
        return Err(fault(message));
    };
    let lead = &k.shape()[..k.ndim() - 2];
    let expect = |name: &str, x: &Tensor, tail: [usize; 2]| {
        let shape = [lead, &tail[..]].concat();
        if x.shape() != shape || x.dtype() != q.dtype() {
            return Err(fault(format!("{name} must be {}{shape:?}, got {}", q.dtype(), x.describe())));
        }
        Ok(())
    };
    if !q.dtype().is_float() {
        return Err(fault(format!("only floats have a recurrence, got q {}", q.describe())));
    }
    let read = if options.transposed { values } else { keys };
    expect("k", k, [steps, keys])?;
    expect("v", v, [steps, values])?;
    expect("q", q, [steps, read])?;
    if let Some(decay) = &options.decay {
        let width = if decay.shape().last() == Some(&1) { 1 } else { keys };
        expect("decay", decay, [steps, width])?;
    }
    if let Some((a, b)) = &options.erase {
        expect("a", a, [steps, keys])?;
        expect("b", b, [steps, keys])?;
    }
    if let Some(state) = &options.state {
        expect("state", state, [keys, values])?;
    }
    let rows = lead.iter().product();
    let &LinearRecurrence { read_first, transposed, erase_undecayed, .. } = options;
    Ok(Recurrence { rows, steps, keys, values, read_first, transposed, erase_undecayed })
}
