use super::support::{check_gradients, draw, t};
use crate::model::DType;
use crate::truth::{LinearRecurrence, Result, Tensor, grad, scan};

/// Every variant with every operand: `q k v decay a b state`.
fn operands(steps: usize, keys: usize, values: usize, transposed: bool) -> Vec<Tensor> {
    let read = if transposed { values } else { keys };
    let shape = |tail: [usize; 2]| [&[2], &tail[..]].concat();
    let draws = [
        (shape([steps, read]), -1.0, 1.0),
        (shape([steps, keys]), -1.0, 1.0),
        (shape([steps, values]), -1.0, 1.0),
        (shape([steps, keys]), 0.3, 1.0),
        (shape([steps, keys]), -0.5, 0.5),
        (shape([steps, keys]), -0.5, 0.5),
        (shape([keys, values]), -1.0, 1.0),
    ];
    draws.into_iter().zip(1..).map(|((shape, low, high), seed)| draw(&shape, seed, low, high)).collect()
}

fn options(x: &[Tensor], flags: [bool; 3]) -> LinearRecurrence {
    let [read_first, transposed, erase_undecayed] = flags;
    LinearRecurrence {
        decay: Some(x[3].clone()),
        erase: Some((x[4].clone(), x[5].clone())),
        state: Some(x[6].clone()),
        read_first,
        transposed,
        erase_undecayed,
    }
}

fn flags() -> impl Iterator<Item = [bool; 3]> {
    (0..8).map(|bits| [bits & 1 != 0, bits & 2 != 0, bits & 4 != 0])
}

/// Output and last state in one.
fn joined(outputs: &[Tensor]) -> Result<Tensor> {
    let flat = outputs.iter().map(|y| y.reshape(&[-1])).collect::<Result<Vec<_>>>()?;
    Tensor::cat(&flat, 0)
}

fn run(x: &[Tensor], flags: [bool; 3]) -> Result<Tensor> {
    let (o, state) = Tensor::linear_recurrence(&x[0], &x[1], &x[2], &options(x, flags))?;
    joined(&[o, state])
}

/// The same step by step, with plain tensor ops, through `scan`.
fn stepwise(x: &[Tensor], [read_first, transposed, erase_undecayed]: [bool; 3]) -> Result<Tensor> {
    let step = move |now: &[Tensor]| {
        let [state, q, k, v, decay, a, b] = now else { panic!("{} arguments", now.len()) };
        let row = |x: &Tensor| x.unsqueeze(1);
        let column = |x: &Tensor| x.unsqueeze(2);
        let decayed = state.mul(&column(decay)?)?;
        let erased = row(a)?.matmul(if erase_undecayed { state } else { &decayed })?;
        let next = decayed.add(&column(b)?.matmul(&erased)?)?.add(&column(k)?.matmul(&row(v)?)?)?;
        let source = if read_first { state } else { &next };
        let read = if transposed {
            source.matmul(&column(q)?)?.squeeze(&[2])?
        } else {
            row(q)?.matmul(source)?.squeeze(&[1])?
        };
        Ok(vec![next, read])
    };
    let xs = x[..6].iter().map(|x| x.transpose(0, 1)).collect::<Result<Vec<_>>>()?;
    let y = scan(step, &x[6..], &xs, &[])?;
    joined(&[y[1].transpose(0, 1)?, y[0].clone()])
}

#[test]
fn recurrences_and_scans_agree_with_each_other_and_with_finite_differences() {
    for steps in [0, 1, 7] {
        for flags in flags() {
            let x = operands(steps, 3, 2, flags[1]);
            let (fast, slow) = (run(&x, flags).expect("runs"), stepwise(&x, flags).expect("runs"));
            let difference = fast.sub(&slow).and_then(|d| d.abs()).expect("same shape").as_f64_vec();
            assert!(difference.iter().all(|d| *d < 1e-12), "{flags:?}, {steps} steps: {difference:?}");
            check_gradients(&format!("linear_recurrence {flags:?} {steps}"), &x, |x| run(x, flags));
            check_gradients(&format!("scan {flags:?} {steps}"), &x, |x| stepwise(x, flags));
        }
    }
}

#[test]
fn wide_states_take_the_vector_path_and_several_rows() {
    for flags in flags() {
        let x = operands(13, 11, 19, flags[1]);
        let leaves: Vec<Tensor> = x.iter().map(|x| x.requires_grad().expect("a float")).collect();
        let gradients = |y: Tensor| {
            let cotangent = draw(y.shape(), 5, -1.0, 1.0);
            grad(&[y], &[cotangent], &leaves).expect("differentiates")
        };
        let fast = gradients(run(&leaves, flags).expect("runs"));
        let slow = gradients(stepwise(&leaves, flags).expect("runs"));
        for (at, (fast, slow)) in fast.iter().zip(&slow).enumerate() {
            let (fast, slow) = (fast.as_ref().expect("depends"), slow.as_ref().expect("depends"));
            let scale = slow.abs().and_then(|x| x.amax(&[], false)).expect("a scale").as_f64_vec()[0];
            let pairs = fast.as_f64_vec().into_iter().zip(slow.as_f64_vec());
            for (fast, slow) in pairs {
                assert!((fast - slow).abs() <= 1e-12 * scale, "{flags:?} input {at}: {fast} is not {slow}");
            }
        }
    }
}

#[test]
fn what_is_left_out_of_a_recurrence_has_its_default() {
    let x = operands(5, 3, 2, false);
    let plain = |x: &[Tensor]| {
        let (o, state) = Tensor::linear_recurrence(&x[0], &x[1], &x[2], &LinearRecurrence::default())?;
        joined(&[o, state])
    };
    check_gradients("linear attention", &x[..3], plain);
    let causal = x[0].matmul(&x[1].matrix_transpose().expect("k^T")).and_then(|a| a.tril(0)?.matmul(&x[2]));
    let difference = plain(&x[..3]).expect("runs").as_f64_vec().into_iter().zip(causal.expect("runs").as_f64_vec());
    assert!(difference.fold(0.0, |worst: f64, (a, b)| worst.max((a - b).abs())) < 1e-14);
    let narrow = [&x[..3], &[draw(&[2, 5, 1], 9, 0.3, 1.0)]].concat();
    check_gradients("one decay for all keys", &narrow, |x| {
        let decay = Some(x[3].clone());
        let options = LinearRecurrence { decay, ..LinearRecurrence::default() };
        joined(&[Tensor::linear_recurrence(&x[0], &x[1], &x[2], &options)?.0])
    });
}

#[test]
fn half_precision_recurrences_carry_float32() {
    let x: Vec<Tensor> = operands(40, 3, 2, false).iter().map(|x| x.to_dtype(DType::BF16).expect("bf16")).collect();
    let y = run(&x, [false; 3]).expect("runs");
    let wide: Vec<Tensor> = x.iter().map(|x| x.to_dtype(DType::F32).expect("f32")).collect();
    assert!(y.equal(&run(&wide, [false; 3]).and_then(|y| y.to_dtype(DType::BF16)).expect("runs")));
}

#[test]
fn misfits_are_refused_by_name() {
    let x = operands(5, 3, 2, false);
    let short = LinearRecurrence { decay: Some(t(&[2, 5], &[1.0; 10])), ..LinearRecurrence::default() };
    let error = Tensor::linear_recurrence(&x[0], &x[1], &x[2], &short).expect_err("a rank is missing");
    assert_eq!(error.to_string(), "linear_recurrence: decay must be float64[2, 5, 3], got float64[2, 5]");
    let error = Tensor::linear_recurrence(&x[2], &x[1], &x[2], &LinearRecurrence::default()).expect_err("q is as v");
    assert_eq!(error.to_string(), "linear_recurrence: q must be float64[2, 5, 3], got float64[2, 5, 2]");
}

#[test]
fn scans_use_constants_and_refuse_hidden_tensors() {
    let inputs = [draw(&[2], 1, -1.0, 1.0), draw(&[11, 2], 2, -1.0, 1.0), draw(&[2], 3, -1.0, 1.0)];
    check_gradients("scan with a constant", &inputs, |x| {
        let step = |x: &[Tensor]| {
            let next = x[0].mul(&x[2])?.add(&x[1].tanh()?)?;
            Ok(vec![next.clone(), next.mul(&x[2])?, next.square()?])
        };
        joined(&scan(step, &x[..1], &x[1..2], &x[2..])?)
    });
    let hidden = inputs[2].requires_grad().expect("a float");
    let step = move |x: &[Tensor]| Ok(vec![x[0].mul(&hidden)?]);
    let error = scan(step, &inputs[..1], &inputs[1..2], &[]).expect_err("a hidden leaf");
    assert!(error.to_string().contains("pass it as a constant"), "{error}");
    let error = scan(|x: &[Tensor]| Ok(vec![x[0].unsqueeze(0)?]), &inputs[..1], &inputs[1..2], &[]).expect_err("grows");
    assert_eq!(error.to_string(), "scan: carry 1 is float64[2], the step made it float64[1, 2]");
}

#[test]
fn long_scans_keep_the_memory_of_a_few_steps() {
    // A tape of all 900 steps would hold two tensors of 1 MiB for each.
    let state = draw(&[1 << 17], 1, -1.0, 1.0).requires_grad().expect("a float");
    let xs = draw(&[900, 1], 2, 0.9, 1.0).requires_grad().expect("a float");
    let high = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let peak = high.clone();
    let before = crate::truth::memory_in_use();
    let step = move |x: &[Tensor]| {
        let used = crate::truth::memory_in_use().saturating_sub(before);
        peak.fetch_max(used, std::sync::atomic::Ordering::Relaxed);
        Ok(vec![x[0].mul(&x[1])?.mul(&x[1])?])
    };
    let y = scan(step, std::slice::from_ref(&state), std::slice::from_ref(&xs), &[]).expect("runs");
    let cotangent = Tensor::ones(&[1 << 17], DType::F64).expect("ones");
    grad(&y, &[cotangent], &[state, xs]).expect("differentiates");
    // 30 carries and the tape of 30 steps are 100 MB; the bound leaves room for what other tests allocate meanwhile.
    let high = high.load(std::sync::atomic::Ordering::Relaxed);
    assert!(high < 1 << 30, "{high}");
}
