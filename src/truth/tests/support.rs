//! Deterministic values, comparisons and the gradient check.

use crate::model::DType;
use crate::truth::{Result, Tensor, grad};

/// float64 from values in row-major order.
pub(super) fn t(shape: &[usize], values: &[f64]) -> Tensor {
    Tensor::from_f64(shape, values).expect("shape fits values")
}

/// int64 from values in row-major order.
pub(super) fn ints(shape: &[usize], values: &[i64]) -> Tensor {
    Tensor::from_i64(shape, values).expect("shape fits values")
}

/// float64 values in `low .. high` that differ by place and seed (splitmix64).
pub(super) fn draw(shape: &[usize], seed: u64, low: f64, high: f64) -> Tensor {
    let unit = |index: usize| {
        let mut z = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(seed << 32);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    };
    let values: Vec<f64> = (0..shape.iter().product()).map(|i| low + (high - low) * unit(i)).collect();
    t(shape, &values)
}

/// Equal shape and, NaN being equal to itself, values within `1e-12` of each other.
pub(super) fn assert_values(got: &Tensor, shape: &[usize], expected: &[f64]) {
    assert_eq!(got.shape(), shape, "{got:?}");
    for (index, (got_value, &value)) in got.as_f64_vec().into_iter().zip(expected).enumerate() {
        let same = got_value == value || got_value.is_nan() && value.is_nan();
        assert!(
            same || (got_value - value).abs() <= 1e-12 * value.abs().max(1.0),
            "[{index}]: {got_value} is not {value}"
        );
    }
    assert_eq!(got.numel(), expected.len());
}

/// Checks every gradient of `f` against central differences, under a cotangent that differs from place to place.
pub(super) fn check_gradients(name: &str, inputs: &[Tensor], f: impl Fn(&[Tensor]) -> Result<Tensor>) {
    let leaves: Vec<Tensor> =
        inputs.iter().map(|x| x.requires_grad().unwrap_or_else(|error| panic!("{name}: {error}"))).collect();
    let y = f(&leaves).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(y.dtype(), DType::F64, "{name}");
    let cotangent = draw(y.shape(), 77, -1.0, 1.0);
    let grads = grad(std::slice::from_ref(&y), std::slice::from_ref(&cotangent), &leaves)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let weights = cotangent.as_f64_vec();
    let loss = |inputs: &[Tensor]| -> f64 {
        let y = f(inputs).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(!y.is_tracked(), "{name}: tracked without a leaf");
        y.as_f64_vec().iter().zip(&weights).map(|(y, w)| y * w).sum()
    };
    for (at, (input, grad)) in inputs.iter().zip(&grads).enumerate() {
        let Some(grad) = grad else { panic!("{name}: input {at} got no gradient") };
        assert_eq!((grad.shape(), grad.dtype()), (input.shape(), DType::F64), "{name}: input {at}");
        let (values, grads) = (input.as_f64_vec(), grad.as_f64_vec());
        for index in 0..values.len() {
            const STEP: f64 = 1e-5;
            let shifted = |by: f64| {
                let mut moved = values.clone();
                moved[index] += by;
                let mut all = inputs.to_vec();
                all[at] = t(input.shape(), &moved);
                loss(&all)
            };
            let slope = (shifted(STEP) - shifted(-STEP)) / (2.0 * STEP);
            let error = (slope - grads[index]).abs();
            assert!(
                error <= 2e-7 * slope.abs().max(1.0),
                "{name}: input {at}[{index}]: {} is not {slope}",
                grads[index]
            );
        }
    }
}

/// The gradient of `sum(f(x))` by one input.
pub(super) fn slope(x: &Tensor, f: impl Fn(&Tensor) -> Result<Tensor>) -> Tensor {
    let leaf = x.requires_grad().expect("a float");
    let y = f(&leaf).expect("the op runs");
    let ones = Tensor::ones(y.shape(), y.dtype()).expect("ones");
    grad(&[y], &[ones], &[leaf]).expect("differentiates").remove(0).expect("depends")
}
