use super::support::{assert_values, check_gradients, draw, ints, t};
use crate::model::DType;
use crate::truth::{Result, Tensor};

type View = fn(&Tensor) -> Result<Tensor>;

#[test]
fn gradients_of_shape_ops() {
    let cases: [(&str, View); 30] = [
        ("reshape", |x| x.reshape(&[5, -1])),
        ("flatten", |x| x.flatten(0, 1)),
        ("unflatten", |x| x.flatten(0, -1)?.unflatten(0, &[6, -1])),
        ("permute", |x| x.permute(&[2, 0, 1])),
        ("transpose", |x| x.transpose(0, -1)),
        ("mT", Tensor::matrix_transpose),
        ("T", Tensor::reverse_dims),
        ("squeeze", |x| x.unsqueeze(1)?.squeeze(&[1])),
        ("unsqueeze", |x| x.unsqueeze(-1)),
        ("expand", |x| x.unsqueeze(1)?.expand(&[4, -1, 3, -1, -1])),
        ("select", |x| x.select(1, -1)),
        ("narrow", |x| x.narrow(-1, 1, 3)),
        ("slice", |x| x.slice_dim(2, Some(-4), None, 2)),
        ("slice twice", |x| x.slice_dim(2, Some(1), None, 1)?.add(&x.slice_dim(2, None, Some(-1), 1)?)),
        ("flip", |x| x.flip(&[0, -1])),
        ("roll", |x| x.roll(2, Some(-1))),
        ("roll flat", |x| x.roll(-7, None)),
        ("diagonal", |x| x.diagonal(1, 0, 2)),
        ("diagonal below", |x| x.diagonal(-1, 1, 2)),
        ("diag_embed", |x| x.diag_embed(-1)),
        ("tril", |x| x.tril(1)),
        ("triu", |x| x.triu(-1)),
        ("cat", |x| Tensor::cat(&[x.clone(), x.narrow(1, 0, 1)?, x.square()?], 1)),
        ("stack", |x| Tensor::stack(&[x.clone(), x.exp()?], -1)),
        ("split", |x| Tensor::cat(&x.split(2, 2)?.into_iter().rev().collect::<Vec<_>>(), 2)),
        ("chunk", |x| x.chunk(2, 1)?[0].mul(&x.chunk(2, 1)?[0])),
        ("unbind", |x| x.unbind(1)?[0].mul(&x.unbind(1)?[2])),
        ("repeat", |x| x.repeat(&[2, 1, 3, 2])),
        ("repeat_interleave", |x| x.repeat_interleave(3, Some(1))),
        ("pad", |x| x.pad(&[1, 2, -1, 1], 0.5)),
    ];
    for (name, f) in cases {
        check_gradients(name, &[draw(&[2, 3, 5], 1, -1.0, 1.0)], |x| f(&x[0]));
    }
}

#[test]
fn values() {
    let x = Tensor::arange(0i64, 6i64, 1i64, Some(DType::F64)).and_then(|x| x.reshape(&[2, 3])).expect("x");
    let check = |f: View, shape: &[usize], expected: &[f64]| assert_values(&f(&x).expect("runs"), shape, expected);
    check(Tensor::matrix_transpose, &[3, 2], &[0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    check(|x| x.select(0, 1), &[3], &[3.0, 4.0, 5.0]);
    check(|x| x.slice_dim(1, None, None, 2), &[2, 2], &[0.0, 2.0, 3.0, 5.0]);
    check(|x| x.slice_dim(1, Some(2), Some(1), 1), &[2, 0], &[]);
    check(|x| x.slice_dim(1, Some(-100), Some(100), 1), &[2, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    check(|x| x.flip(&[1]), &[2, 3], &[2.0, 1.0, 0.0, 5.0, 4.0, 3.0]);
    check(|x| x.roll(1, Some(1)), &[2, 3], &[2.0, 0.0, 1.0, 5.0, 3.0, 4.0]);
    check(|x| x.diagonal(0, 0, 1), &[2], &[0.0, 4.0]);
    check(
        |x| x.select(0, 0)?.diag_embed(1),
        &[4, 4],
        &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0],
    );
    check(|x| x.tril(0), &[2, 3], &[0.0, 0.0, 0.0, 3.0, 4.0, 0.0]);
    check(|x| x.triu(1), &[2, 3], &[0.0, 1.0, 2.0, 0.0, 0.0, 5.0]);
    check(|x| x.pad(&[1, 0], f64::INFINITY), &[2, 4], &[f64::INFINITY, 0.0, 1.0, 2.0, f64::INFINITY, 3.0, 4.0, 5.0]);
    check(|x| x.repeat_interleave(2, Some(1)), &[2, 6], &[0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0, 5.0, 5.0]);
    check(|x| x.select(0, 0)?.repeat(&[2, 2]), &[2, 6], &[0.0, 1.0, 2.0, 0.0, 1.0, 2.0, 0.0, 1.0, 2.0, 0.0, 1.0, 2.0]);
    let parts = x.split_sizes(&[1, 2], 1).expect("split");
    assert_values(&parts[1], &[2, 2], &[1.0, 2.0, 4.0, 5.0]);
    assert_eq!(x.chunk(2, 1).expect("chunk")[1].shape(), [2, 1]);
    assert_eq!(t(&[0, 2], &[]).split(3, 0).expect("split")[0].shape(), [0, 2]);
    assert_values(&Tensor::eye(2, 3, DType::F64).expect("eye"), &[2, 3], &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    assert_values(&Tensor::eye(4, 2, DType::I8).expect("eye"), &[4, 2], &[1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    assert_values(&Tensor::arange(1.0, 2.0, 0.25, Some(DType::F64)).expect("arange"), &[4], &[1.0, 1.25, 1.5, 1.75]);
    assert_values(&Tensor::arange(3i64, 0i64, -1i64, None).expect("arange"), &[3], &[3.0, 2.0, 1.0]);
    assert_values(&Tensor::linspace(0.0, 1.0, 5, DType::F64).expect("linspace"), &[5], &[0.0, 0.25, 0.5, 0.75, 1.0]);
    assert_values(&Tensor::linspace(3.0, 9.0, 1, DType::F64).expect("linspace"), &[1], &[3.0]);
    let joined = Tensor::cat(&[ints(&[1], &[1]), t(&[1], &[0.5])], 0).expect("cat promotes");
    assert_eq!((joined.dtype(), joined.as_f64_vec()), (DType::F64, vec![1.0, 0.5]));
}

#[test]
fn misuse_is_named() {
    let x = draw(&[2, 3], 1, 0.0, 1.0);
    let cases: [(Result<Tensor>, &str); 14] = [
        (x.reshape(&[4, -1]), "reshape: [2, 3] to [4, -1]: 6 elements do not fill the open extent"),
        (x.reshape(&[-1, -1]), "reshape: [2, 3] to [-1, -1]: only one extent may be -1"),
        (x.reshape(&[5]), "reshape: [2, 3] to [5]: 6 elements are not 5"),
        (x.permute(&[0, 0]), "permute: [0, 0] does not name each of the 2 dims of [2, 3] once"),
        (x.expand(&[3, 3]), "expand: [2, 3] does not expand to [3, 3]; only extents of 1 grow"),
        (x.select(0, 2), "select: index 2 is out of range for dim 0 of extent 2"),
        (x.narrow(1, 2, 2), "narrow: start 2 and length 2 leave dim 1 of extent 3"),
        (x.transpose(0, 2), "transpose: dim 2 is out of range [-2, 1]"),
        (x.unflatten(1, &[2, 2]), "unflatten: sizes [2, 2] do not make up dim 1 of 3"),
        (x.pad(&[1], 0.0), "pad: [1] are not (before, after) pairs for at most 2 dims"),
        (x.diagonal(0, 1, -1), "diagonal: dims 1 and -1 are the same"),
        (Tensor::cat(&[], 0), "cat: expected at least one tensor"),
        (
            Tensor::cat(&[x.clone(), draw(&[3, 3], 1, 0.0, 1.0)], 1),
            "cat: tensor 1 has shape [3, 3], tensor 0 [2, 3]; only dim 1 may differ",
        ),
        (Tensor::arange(0i64, 3i64, -1i64, None), "arange: from 0 to 3 by -1: the step leads away from the end"),
    ];
    for (result, expected) in cases {
        assert_eq!(result.expect_err(expected).to_string(), expected);
    }
}
