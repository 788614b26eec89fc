//! Rounding, accuracy, determinism.

use proptest::prelude::*;

use super::support::{draw, t};
use crate::model::DType;
use crate::truth::{Tensor, grad, set_memory_budget};

#[test]
fn half_types_round_each_op_once() {
    for dtype in [DType::BF16, DType::F16] {
        let round = |x: f64| t(&[1], &[x]).to_dtype(dtype).expect("casts").as_f64_vec()[0];
        let (a, b) = (draw(&[1000], 1, -3.0, 3.0), draw(&[1000], 2, 0.5, 3.0));
        let (a, b) = (a.to_dtype(dtype).expect("casts"), b.to_dtype(dtype).expect("casts"));
        let (x, y) = (a.as_f64_vec(), b.as_f64_vec());
        let product = a.mul(&b).expect("mul").as_f64_vec();
        let silu = a.mul(1e-3).expect("mul").as_f64_vec();
        for i in 0..1000 {
            assert_eq!(product[i], round(f64::from(x[i] as f32 * y[i] as f32)));
            assert_eq!(silu[i], round(f64::from(x[i] as f32 * 1e-3f32)), "the scalar itself is not rounded");
        }
    }
}

#[test]
fn half_reductions_accumulate_in_f32() {
    // 4096 ones in bf16 would stall at 256 if each partial sum were rounded.
    let ones = Tensor::ones(&[3, 4096], DType::BF16).expect("ones");
    let sum = ones.sum(&[1], false).expect("sum");
    assert_eq!((sum.dtype(), sum.as_f64_vec()), (DType::BF16, vec![4096.0; 3]));
    assert_eq!(ones.mean(&[0], false).expect("mean").as_f64_vec(), vec![1.0; 4096]);
    let product = ones.matmul(&ones.matrix_transpose().expect("mT")).expect("matmul");
    assert_eq!(product.as_f64_vec(), vec![4096.0; 9]);
}

#[test]
fn f32_sums_have_a_small_error_along_both_axes() {
    let n = 1 << 20;
    let x = draw(&[n], 3, 0.0, 1.0).to_dtype(DType::F32).expect("casts");
    let exact: f64 = x.as_f64_vec().iter().sum();
    for (shape, dim) in [([1, n as isize], 1), ([n as isize, 1], 0)] {
        let sum = x.reshape(&shape).expect("reshape").sum(&[dim], false).expect("sum").as_f64_vec()[0];
        assert!((sum - exact).abs() < 1e-6 * exact, "{sum} {exact}");
    }
    let tall = x.reshape(&[n as isize / 2, 2]).expect("reshape").sum(&[0], false).expect("sum");
    assert!((tall.as_f64_vec().iter().sum::<f64>() - exact).abs() < 1e-6 * exact);
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let compute = || {
        let x = draw(&[513, 517], 4, -1.0, 1.0).requires_grad().expect("a leaf");
        let w = draw(&[517, 130], 5, -1.0, 1.0).requires_grad().expect("a leaf");
        let y = x.square().and_then(|s| s.mean(&[-1], true)).and_then(|m| m.rsqrt()).and_then(|r| x.mul(&r));
        let y = y.and_then(|y| y.matmul(&w)).and_then(|y| y.softmax(0, None)).expect("computes");
        let cotangent = draw(y.shape(), 6, -1.0, 1.0);
        let grads = grad(std::slice::from_ref(&y), &[cotangent], &[x, w]).expect("differentiates");
        let mut bytes = y.to_bytes();
        grads.iter().flatten().for_each(|grad| bytes.extend(grad.as_bytes()));
        bytes
    };
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(compute)
    };
    let one = run(1);
    assert!([2, 3, 8].into_iter().all(|threads| run(threads) == one));
}

#[test]
fn conversions() {
    let x = t(&[5], &[1.9, -1.9, f64::NAN, 1e300, 0.25]);
    let to = |dtype| x.to_dtype(dtype).expect("casts");
    assert_eq!(to(DType::I64).as_i64_vec()[..2], [1, -1]);
    assert_eq!(to(DType::Bool).as_i64_vec(), [1, 1, 1, 1, 1]);
    assert_eq!(to(DType::F32).as_f64_vec()[3], f64::INFINITY);
    assert!(to(DType::BF16).as_f64_vec()[2].is_nan());
    for dtype in DType::ALL {
        let bytes = to(dtype).to_bytes();
        assert_eq!(bytes.len(), 5 * dtype.size());
        assert_eq!(Tensor::from_bytes(dtype, &[5], &bytes).expect("bytes").to_bytes(), bytes);
    }
    assert!(
        Tensor::from_bytes(DType::F32, &[2], &[0; 7]).expect_err("bytes").to_string().contains("has 8 bytes, got 7")
    );
    assert_eq!(Tensor::from_bytes(DType::Bool, &[2], &[0, 7]).expect("bytes").to_bytes(), [0, 1]);
}

#[test]
fn the_memory_budget_refuses_with_the_figure() {
    let error = Tensor::zeros(&[1 << 30, 1 << 30], DType::F64).expect_err("8 EiB").to_string();
    assert!(
        error.starts_with("zeros: a float64 tensor of shape [1073741824, 1073741824] needs 8589934592.0 GiB; "),
        "{error}"
    );
    let expanded = t(&[1], &[1.0]).expand(&[1 << 60]).expect_err("8 EiB").to_string();
    assert!(expanded.contains("tensor budget are in use"), "{expanded}");
    set_memory_budget(1 << 40);
}

proptest! {
    #[test]
    fn sums_agree_with_a_plain_loop(outer in 1usize..5, len in 0usize..700, inner in 1usize..40) {
        let x = draw(&[outer, len, inner], 8, -1.0, 1.0);
        let (sum, values) = (x.sum(&[1], false).expect("sum").as_f64_vec(), x.as_f64_vec());
        for o in 0..outer {
            for i in 0..inner {
                let plain: f64 = (0..len).map(|l| values[(o * len + l) * inner + i]).sum();
                prop_assert!((sum[o * inner + i] - plain).abs() < 1e-12 * (len as f64 + 1.0));
            }
        }
    }

    #[test]
    fn broadcasts_agree_with_materialised_operands(dims in prop::collection::vec((0usize..4, any::<bool>(), any::<bool>()), 0..5)) {
        let full: Vec<usize> = dims.iter().map(|d| d.0).collect();
        let a: Vec<usize> = dims.iter().map(|d| if d.1 { d.0 } else { 1 }).collect();
        let b: Vec<usize> = dims.iter().map(|d| if d.2 || !d.1 { d.0 } else { 1 }).collect();
        let (x, y) = (draw(&a, 1, -1.0, 1.0), draw(&b, 2, -1.0, 1.0));
        let spread = |t: &Tensor| t.broadcast_to(&full).expect("broadcasts");
        prop_assert!(x.sub(&y).expect("sub").equal(&spread(&x).sub(spread(&y)).expect("sub")));
    }
}
