use std::slice::from_ref as one;

use super::support::{assert_values, draw, t};
use crate::model::DType;
use crate::truth::{Tensor, grad};

fn ones_like(x: &Tensor) -> Tensor {
    Tensor::ones(x.shape(), x.dtype()).expect("ones")
}

#[test]
fn a_long_chain_runs_backward_and_drops() {
    let x = t(&[2], &[1.0, 2.0]).requires_grad().expect("a leaf");
    let mut y = x.clone();
    for _ in 0..50_000 {
        y = y.add(1.0).expect("add");
    }
    let unused = y.clone();
    assert_values(
        grad(one(&y), &[ones_like(&y)], one(&x)).expect("grad")[0].as_ref().expect("used"),
        &[2],
        &[1.0, 1.0],
    );
    drop((y, x));
    drop(unused);
}

#[test]
fn a_wide_sharing_graph_is_linear_work() {
    // y = 2^60 x through 60 doublings: exponentially many paths, linearly many nodes.
    let x = t(&[1], &[1.0]).requires_grad().expect("a leaf");
    let mut y = x.clone();
    for _ in 0..60 {
        y = y.add(&y).expect("add");
    }
    let g = grad(one(&y), &[ones_like(&y)], &[x]).expect("grad");
    assert_values(g[0].as_ref().expect("used"), &[1], &[2f64.powi(60)]);
}

#[test]
fn unused_intermediate_and_repeated_inputs() {
    let x = t(&[2], &[2.0, 3.0]).requires_grad().expect("a leaf");
    let other = x.requires_grad().expect("another leaf");
    let middle = x.square().expect("square");
    let y = middle.mul(&x).expect("mul");
    let grads = grad(one(&y), &[ones_like(&y)], &[x.clone(), other, middle, x.clone()]).expect("grad");
    assert_values(grads[0].as_ref().expect("used"), &[2], &[12.0, 27.0]);
    assert!(grads[1].is_none());
    assert_values(grads[2].as_ref().expect("used"), &[2], &[2.0, 3.0]);
    assert_values(grads[3].as_ref().expect("used"), &[2], &[12.0, 27.0]);
}

#[test]
fn several_outputs_add_up_and_an_output_may_be_an_input() {
    let x = t(&[2], &[2.0, 3.0]).requires_grad().expect("a leaf");
    let y = x.mul(10.0).expect("mul");
    let cotangents = [t(&[2], &[1.0, 2.0]), t(&[2], &[5.0, 7.0])];
    let grads = grad(&[y, x.clone()], &cotangents, &[x]).expect("grad");
    assert_values(grads[0].as_ref().expect("used"), &[2], &[15.0, 27.0]);
}

#[test]
fn outputs_off_the_tape_give_nothing() {
    let x = t(&[2], &[2.0, 3.0]).requires_grad().expect("a leaf");
    let y = x.detach().square().expect("square");
    assert!(!y.is_tracked());
    assert!(grad(one(&y), &[ones_like(&y)], &[x]).expect("grad")[0].is_none());
}

#[test]
fn gradients_have_the_dtype_of_their_tensor() {
    let x = draw(&[3, 5], 1, -1.0, 1.0).to_dtype(DType::BF16).and_then(|x| x.requires_grad()).expect("a leaf");
    let y = x.upcast().and_then(|h| h.square()).and_then(|h| h.to_dtype(DType::F16)).expect("computes");
    let g = grad(one(&y), &[ones_like(&y)], one(&x)).expect("grad").remove(0).expect("used");
    assert_eq!(g.dtype(), DType::BF16);
    assert_eq!(g.as_f64_vec(), x.mul(2.0).expect("mul").as_f64_vec());
}

#[test]
fn misuse_is_named() {
    let x = t(&[2], &[1.0, 2.0]).requires_grad().expect("a leaf");
    let y = x.exp().expect("exp");
    let wrong = grad(one(&y), &[t(&[1], &[1.0])], one(&x)).expect_err("shape").to_string();
    assert_eq!(wrong, "grad: cotangent 0 is float64[1], its output is float64[2]");
    let plain = grad(one(&y), &[ones_like(&y)], &[x.detach()]).expect_err("leaf").to_string();
    assert_eq!(plain, "grad: input 0 (float64[2]) does not require gradients");
    grad(one(&y), &[ones_like(&y)], one(&x)).expect("first");
    let again = grad(one(&y), &[ones_like(&y)], &[x]).expect_err("second").to_string();
    assert_eq!(again, "grad: the tape through 'exp' was used by an earlier grad; compute the outputs again");
    assert!(t(&[1], &[1.0]).to_dtype(DType::I64).and_then(|x| x.requires_grad()).is_err());
}

#[test]
fn a_loop_over_slices_costs_the_slices() {
    // Every step reads one row of a large tensor; its gradient must not touch the whole tensor each time.
    let x = draw(&[2000, 500], 1, -1.0, 1.0).requires_grad().expect("a leaf");
    let mut state = Tensor::zeros(&[500], DType::F64).expect("zeros");
    for step in 0..2000 {
        state = state.mul(0.5).and_then(|s| s.add(&x.select(0, step)?)).expect("a step");
    }
    let g = grad(one(&state), &[ones_like(&state)], &[x]).expect("grad").remove(0).expect("used");
    let last = g.select(0, -2).expect("a row").as_f64_vec();
    assert!(last.iter().all(|&value| value == 0.5));
}
