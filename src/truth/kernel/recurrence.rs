//! Linear recurrences over matrix states, one state per row of the batch, token by token.
//!
//! [`forward`] and [`backward`] are the whole boundary to `Tensor::linear_recurrence`: contiguous slices in and out. A
//! device version replaces these two.

use rayon::prelude::*;

use crate::truth::element::Real;

/// Extents and variant.
#[derive(Clone, Copy)]
pub(crate) struct Recurrence {
    pub(crate) rows: usize,
    pub(crate) steps: usize,
    pub(crate) keys: usize,
    pub(crate) values: usize,
    /// `q` reads the state that a step starts from instead of the one it ends with.
    pub(crate) read_first: bool,
    /// `q` runs over values and the output over keys.
    pub(crate) transposed: bool,
    /// `a` reads the state before its decay.
    pub(crate) erase_undecayed: bool,
}

/// `[rows, steps, ·]` each, and the first state `[rows, keys, values]`.
#[derive(Clone, Copy)]
pub(crate) struct Operands<'a, T> {
    pub(crate) q: &'a [T],
    pub(crate) k: &'a [T],
    pub(crate) v: &'a [T],
    pub(crate) decay: &'a [T],
    pub(crate) erase: Option<Erase<'a, T>>,
    pub(crate) state: &'a [T],
}

/// The rank-one factor: `b a^T` is added to the transition.
#[derive(Clone, Copy)]
pub(crate) struct Erase<'a, T> {
    pub(crate) a: &'a [T],
    pub(crate) b: &'a [T],
}

/// Where the gradients of the operands go; `a` and `b` are empty without an erase.
pub(crate) struct Gradients<'a, T> {
    pub(crate) q: &'a mut [T],
    pub(crate) k: &'a mut [T],
    pub(crate) v: &'a mut [T],
    pub(crate) decay: &'a mut [T],
    pub(crate) a: &'a mut [T],
    pub(crate) b: &'a mut [T],
    pub(crate) state: &'a mut [T],
}

impl Recurrence {
    /// Width of `q` and of the output.
    pub(crate) fn read_widths(&self) -> (usize, usize) {
        if self.transposed { (self.values, self.keys) } else { (self.keys, self.values) }
    }

    fn row<'a, T: Copy>(&self, all: &Operands<'a, T>, row: usize) -> Operands<'a, T> {
        let part = |x: &'a [T], len: usize| &x[row * len..(row + 1) * len];
        let (per_key, per_value) = (self.steps * self.keys, self.steps * self.values);
        Operands {
            q: part(all.q, self.steps * self.read_widths().0),
            k: part(all.k, per_key),
            v: part(all.v, per_value),
            decay: part(all.decay, per_key),
            erase: all.erase.map(|erase| Erase { a: part(erase.a, per_key), b: part(erase.b, per_key) }),
            state: part(all.state, self.keys * self.values),
        }
    }

    /// Token `t` of one row: `state` goes one step on. `erased` receives `a^T S`.
    fn step<T: Real>(&self, x: &Operands<T>, t: usize, state: &mut [T], erased: &mut [T]) {
        let (keys, values) = (self.keys, self.values);
        let (k, v, decay) = (at(x.k, t, keys), at(x.v, t, values), at(x.decay, t, keys));
        if let Some(Erase { a, b }) = x.erase {
            let (a, b) = (at(a, t, keys), at(b, t, keys));
            erased.fill(T::ZERO);
            for (i, line) in state.chunks_exact(values).enumerate() {
                add_scaled(erased, if self.erase_undecayed { a[i] } else { a[i] * decay[i] }, line);
            }
            for (i, line) in state.chunks_exact_mut(values).enumerate() {
                for ((s, &v), &e) in line.iter_mut().zip(v).zip(&*erased) {
                    *s = decay[i] * *s + b[i] * e + k[i] * v;
                }
            }
        } else {
            for (i, line) in state.chunks_exact_mut(values).enumerate() {
                for (s, &v) in line.iter_mut().zip(v) {
                    *s = decay[i] * *s + k[i] * v;
                }
            }
        }
    }

    /// What `q` reads.
    fn read<T: Real>(&self, q: &[T], state: &[T], out: &mut [T]) {
        let lines = state.chunks_exact(self.values);
        if self.transposed {
            out.iter_mut().zip(lines).for_each(|(out, line)| *out = dot(line, q));
        } else {
            out.fill(T::ZERO);
            q.iter().zip(lines).for_each(|(&q, line)| add_scaled(out, q, line));
        }
    }

    /// The gradients of a read: `dq` is set, `grad` (by the state) added to.
    fn read_backward<T: Real>(&self, q: &[T], state: &[T], dout: &[T], dq: &mut [T], grad: &mut [T]) {
        let lines = state.chunks_exact(self.values).zip(grad.chunks_exact_mut(self.values));
        if self.transposed {
            dq.fill(T::ZERO);
            for ((line, grad), &dout) in lines.zip(dout) {
                add_scaled(dq, dout, line);
                add_scaled(grad, dout, q);
            }
        } else {
            for (((line, grad), &q), dq) in lines.zip(q).zip(dq) {
                *dq = dot(line, dout);
                add_scaled(grad, q, dout);
            }
        }
    }
}

/// Outputs `[rows, steps, ·]` and last states.
pub(crate) fn forward<T: Real>(shape: Recurrence, all: &Operands<T>, out: &mut [T], last: &mut [T]) {
    if shape.keys * shape.values == 0 {
        out.fill(T::ZERO);
        return;
    }
    let (of_q, of_out) = shape.read_widths();
    let outs = parts(out, shape.rows, shape.steps * of_out);
    let rows = outs.into_iter().zip(parts(last, shape.rows, shape.keys * shape.values)).enumerate();
    rows.collect::<Vec<_>>().into_par_iter().for_each(|(row, (out, state))| {
        let x = shape.row(all, row);
        let mut erased = vec![T::ZERO; shape.values];
        state.copy_from_slice(x.state);
        for t in 0..shape.steps {
            let (q, out) = (at(x.q, t, of_q), at_mut(out, t, of_out));
            if shape.read_first {
                shape.read(q, state, out);
                shape.step(&x, t, state, &mut erased);
            } else {
                shape.step(&x, t, state, &mut erased);
                shape.read(q, state, out);
            }
        }
    });
}

/// Gradients under the cotangents `dout` and `dlast`. States are recomputed from about `sqrt(steps)` of them, so that
/// each thread holds `2 sqrt(steps)` states at a time, whatever the number of rows.
pub(crate) fn backward<T: Real>(shape: Recurrence, all: &Operands<T>, dout: &[T], dlast: &[T], grads: Gradients<T>) {
    if shape.keys * shape.values == 0 {
        for grad in [grads.q, grads.k, grads.v, grads.decay, grads.a, grads.b, grads.state] {
            grad.fill(T::ZERO);
        }
        return;
    }
    let (rows, per_key) = (shape.rows, shape.steps * shape.keys);
    let of_erase = if all.erase.is_some() { per_key } else { 0 };
    let mut q = parts(grads.q, rows, shape.steps * shape.read_widths().0).into_iter();
    let mut k = parts(grads.k, rows, per_key).into_iter();
    let mut v = parts(grads.v, rows, shape.steps * shape.values).into_iter();
    let mut decay = parts(grads.decay, rows, per_key).into_iter();
    let mut a = parts(grads.a, rows, of_erase).into_iter();
    let mut b = parts(grads.b, rows, of_erase).into_iter();
    let states = parts(grads.state, rows, shape.keys * shape.values).into_iter();
    let tasks: Vec<Gradients<T>> = states
        .filter_map(|state| {
            let (q, k, v) = (q.next()?, k.next()?, v.next()?);
            Some(Gradients { q, k, v, decay: decay.next()?, a: a.next()?, b: b.next()?, state })
        })
        .collect();
    tasks.into_par_iter().enumerate().for_each(|(row, grads)| {
        let dout = at(dout, row, shape.steps * shape.read_widths().1);
        row_backward(shape, &shape.row(all, row), dout, at(dlast, row, shape.keys * shape.values), grads);
    });
}

fn row_backward<T: Real>(shape: Recurrence, x: &Operands<T>, dout: &[T], dlast: &[T], mut grads: Gradients<T>) {
    let (size, values) = (shape.keys * shape.values, shape.values);
    let stride = (shape.steps as f64).sqrt().ceil().max(1.0) as usize;
    let mut erased = vec![T::ZERO; values];
    let mut kept = Vec::with_capacity(shape.steps.div_ceil(stride) * size);
    let mut state = x.state.to_vec();
    for t in 0..shape.steps {
        if t % stride == 0 {
            kept.extend_from_slice(&state);
        }
        shape.step(x, t, &mut state, &mut erased);
    }
    grads.state.copy_from_slice(dlast);
    let mut states = vec![T::ZERO; (stride + 1) * size];
    let mut erased = vec![T::ZERO; stride * values];
    for (segment, start) in kept.chunks_exact(size).enumerate().rev() {
        let first = segment * stride;
        let steps = first..(first + stride).min(shape.steps);
        states[..size].copy_from_slice(start);
        for (i, t) in steps.clone().enumerate() {
            let (done, next) = states.split_at_mut((i + 1) * size);
            next[..size].copy_from_slice(&done[i * size..]);
            shape.step(x, t, &mut next[..size], at_mut(&mut erased, i, values));
        }
        for (i, t) in steps.enumerate().rev() {
            let pair = [at(&states, i, size), at(&states, i + 1, size)];
            step_backward(shape, x, t, pair, at(&erased, i, values), dout, &mut grads);
        }
    }
}

/// One step back: `grads.state` goes from the gradient by the state after token `t` to that before it.
fn step_backward<T: Real>(
    shape: Recurrence,
    x: &Operands<T>,
    t: usize,
    [before, after]: [&[T]; 2],
    erased: &[T],
    dout: &[T],
    grads: &mut Gradients<T>,
) {
    let (keys, values) = (shape.keys, shape.values);
    let (of_q, of_out) = shape.read_widths();
    let (q, dout) = (at(x.q, t, of_q), at(dout, t, of_out));
    let dq = at_mut(grads.q, t, of_q);
    let grad = &mut *grads.state;
    if !shape.read_first {
        shape.read_backward(q, after, dout, dq, grad);
    }
    let (k, v, decay) = (at(x.k, t, keys), at(x.v, t, values), at(x.decay, t, keys));
    let (dk, dv, ddecay) = (at_mut(grads.k, t, keys), at_mut(grads.v, t, values), at_mut(grads.decay, t, keys));
    dv.fill(T::ZERO);
    for (i, grad) in grad.chunks_exact(values).enumerate() {
        dk[i] = dot(grad, v);
        add_scaled(dv, k[i], grad);
    }
    match x.erase {
        None => {
            for (i, (grad, before)) in grad.chunks_exact_mut(values).zip(before.chunks_exact(values)).enumerate() {
                ddecay[i] = dot(grad, before);
                grad.iter_mut().for_each(|g| *g = decay[i] * *g);
            }
        }
        Some(Erase { a, b }) => {
            let (a, b) = (at(a, t, keys), at(b, t, keys));
            let (da, db) = (at_mut(grads.a, t, keys), at_mut(grads.b, t, keys));
            let mut derased = vec![T::ZERO; values];
            for (i, grad) in grad.chunks_exact(values).enumerate() {
                db[i] = dot(grad, erased);
                add_scaled(&mut derased, b[i], grad);
            }
            for (i, (grad, before)) in grad.chunks_exact_mut(values).zip(before.chunks_exact(values)).enumerate() {
                let read = dot(before, &derased);
                ddecay[i] = dot(grad, before);
                if shape.erase_undecayed {
                    da[i] = read;
                    grad.iter_mut().zip(&derased).for_each(|(g, &e)| *g = decay[i] * *g + a[i] * e);
                } else {
                    da[i] = decay[i] * read;
                    ddecay[i] += a[i] * read;
                    grad.iter_mut().zip(&derased).for_each(|(g, &e)| *g = decay[i] * (*g + a[i] * e));
                }
            }
        }
    }
    if shape.read_first {
        shape.read_backward(q, before, dout, dq, grad);
    }
}

fn at<T>(x: &[T], index: usize, len: usize) -> &[T] {
    &x[index * len..(index + 1) * len]
}

fn at_mut<T>(x: &mut [T], index: usize, len: usize) -> &mut [T] {
    &mut x[index * len..(index + 1) * len]
}

/// `count` consecutive parts of `len`, which may be 0.
fn parts<T>(mut rest: &mut [T], count: usize, len: usize) -> Vec<&mut [T]> {
    let mut parts = Vec::with_capacity(count);
    for _ in 0..count {
        let (part, tail) = rest.split_at_mut(len);
        parts.push(part);
        rest = tail;
    }
    parts
}

/// `y += factor * x`.
fn add_scaled<T: Real>(y: &mut [T], factor: T, x: &[T]) {
    y.iter_mut().zip(x).for_each(|(y, &x)| *y += factor * x);
}

/// Summed in eight interleaved parts, for the sake of vector registers.
fn dot<T: Real>(x: &[T], y: &[T]) -> T {
    let mut sums = [T::ZERO; 8];
    let (xs, ys) = (x.chunks_exact(8), y.chunks_exact(8));
    let rest = xs.remainder().iter().zip(ys.remainder());
    let tail = rest.fold(T::ZERO, |sum, (&x, &y)| sum + x * y);
    for (x, y) in xs.zip(ys) {
        for ((sum, &x), &y) in sums.iter_mut().zip(x).zip(y) {
            *sum += x * y;
        }
    }
    sums.into_iter().fold(tail, |sum, part| sum + part)
}
