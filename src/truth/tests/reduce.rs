use super::support::{assert_values, check_gradients, draw, ints, slope, t};
use crate::model::DType;
use crate::truth::{Result, Tensor};

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

type Over = fn(&Tensor, &[isize], bool) -> Result<Tensor>;

const REDUCTIONS: [(&str, Over); 11] = [
    ("sum", Tensor::sum),
    ("mean", Tensor::mean),
    ("amax", Tensor::amax),
    ("amin", Tensor::amin),
    ("logsumexp", Tensor::logsumexp),
    ("var", |x, dims, keep| x.var(dims, 1.0, keep)),
    ("var biased", |x, dims, keep| x.var(dims, 0.0, keep)),
    ("std", |x, dims, keep| x.std(dims, 1.0, keep)),
    ("norm", |x, dims, keep| x.norm(2.0, dims, keep)),
    ("norm 1", |x, dims, keep| x.norm(1.0, dims, keep)),
    ("norm 3", |x, dims, keep| x.norm(3.0, dims, keep)),
];

#[test]
fn gradients_over_every_set_of_dims() {
    let x = draw(&[2, 3, 5], 1, -2.0, 2.0);
    let sets: [&[isize]; 7] = [&[], &[0], &[1], &[-1], &[0, 2], &[1, 2], &[0, 1]];
    for (name, f) in REDUCTIONS {
        for dims in sets {
            for keep in [false, true] {
                check_gradients(&format!("{name} {dims:?} {keep}"), std::slice::from_ref(&x), |x| f(&x[0], dims, keep));
            }
        }
        let other: [&[usize]; 4] = [&[7], &[1, 4], &[17, 3], &[3, 1031]];
        for shape in other.into_iter().take(if name == "sum" { 4 } else { 3 }) {
            if !name.starts_with(['v', 's']) || shape[0] > 1 || name == "sum" {
                check_gradients(&format!("{name} {shape:?}"), &[draw(shape, 5, -2.0, 2.0)], |x| f(&x[0], &[0], false));
            }
        }
    }
}

#[test]
fn values_and_shapes() {
    let x = t(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_values(&x.sum(&[], false).expect("sum"), &[], &[21.0]);
    assert_values(&x.sum(&[0], true).expect("sum"), &[1, 3], &[5.0, 7.0, 9.0]);
    assert_values(&x.mean(&[-1], false).expect("mean"), &[2], &[2.0, 5.0]);
    assert_values(&x.var(&[1], 1.0, false).expect("var"), &[2], &[1.0, 1.0]);
    assert_values(&x.var(&[0, 1], 0.0, true).expect("var"), &[1, 1], &[35.0 / 12.0]);
    assert_values(&x.norm(INF, &[1], false).expect("norm"), &[2], &[3.0, 6.0]);
    assert_values(&x.prod(Some(0), false).expect("prod"), &[3], &[4.0, 10.0, 18.0]);
    assert_values(&x.cumsum(1).expect("cumsum"), &[2, 3], &[1.0, 3.0, 6.0, 4.0, 9.0, 15.0]);
    assert_values(&t(&[], &[3.0]).sum(&[0], false).expect("rank 0"), &[], &[3.0]);
    assert_values(&t(&[0, 2], &[]).sum(&[0], false).expect("empty"), &[2], &[0.0, 0.0]);
    assert_values(&t(&[0], &[]).mean(&[], false).expect("empty"), &[], &[NAN]);
    assert_values(&t(&[2, 0], &[]).prod(Some(1), false).expect("empty"), &[2], &[1.0, 1.0]);
    assert!(t(&[0], &[]).amax(&[], false).expect_err("empty").to_string().contains("is empty"));
    let counts = ints(&[3], &[1, 2, 4]).to_dtype(DType::I8).expect("casts").sum(&[], false).expect("sum");
    assert_eq!((counts.dtype(), counts.as_i64_vec()), (DType::I64, vec![7]));
    assert!(ints(&[1], &[1]).mean(&[], false).expect_err("ints").to_string().contains("expected floats"));
    for bad in [&[2][..], &[-3], &[0, 0], &[1, -1]] {
        assert!(x.sum(bad, false).is_err(), "{bad:?}");
    }
}

#[test]
fn extrema_ties_and_nan() {
    let x = t(&[2, 3], &[1.0, 7.0, 7.0, NAN, 2.0, 3.0]);
    assert_values(&x.amax(&[1], false).expect("amax"), &[2], &[7.0, NAN]);
    assert_values(&x.amin(&[0], false).expect("amin"), &[3], &[NAN, 2.0, 3.0]);
    assert_values(&slope(&t(&[3], &[7.0, 1.0, 7.0]), |x| x.amax(&[], false)), &[3], &[0.5, 0.0, 0.5]);
    assert_values(&slope(&t(&[3], &[7.0, 1.0, 7.0]), |x| Ok(x.max_dim(0, false)?.0)), &[3], &[1.0, 0.0, 0.0]);
    let (values, places) = x.max_dim(1, true).expect("max");
    assert_values(&values, &[2, 1], &[7.0, NAN]);
    assert_values(&places, &[2, 1], &[1.0, 0.0]);
    assert_values(&x.argmin(None, false).expect("argmin"), &[], &[3.0]);
    assert_values(&t(&[], &[3.0]).max_dim(0, false).expect("rank 0").0, &[], &[3.0]);
    let narrow = ints(&[2], &[-5, -3]).to_dtype(DType::I8).expect("casts");
    assert_values(&narrow.amax(&[], false).expect("amax"), &[], &[-3.0]);
    let wide = ints(&[2], &[i64::MAX, i64::MAX - 1]);
    assert_eq!(wide.amax(&[], false).expect("amax").as_i64_vec(), [i64::MAX]);
    assert_values(&x.isnan().expect("isnan").any(&[1], false).expect("any"), &[2], &[0.0, 1.0]);
    assert_values(&x.isfinite().expect("isfinite").all(&[], false).expect("all"), &[], &[0.0]);
    assert_values(&t(&[0], &[]).all(&[], false).expect("empty"), &[], &[1.0]);
}

#[test]
fn softmax_family() {
    let x = draw(&[3, 5, 2], 9, -3.0, 3.0);
    for dim in [0, 1, -1] {
        check_gradients("softmax", std::slice::from_ref(&x), |x| x[0].softmax(dim, None));
        check_gradients("log_softmax", std::slice::from_ref(&x), |x| x[0].log_softmax(dim, None));
        check_gradients("cumsum", std::slice::from_ref(&x), |x| x[0].cumsum(dim));
        check_gradients("prod", std::slice::from_ref(&x), |x| x[0].prod(Some(dim), false));
    }
    check_gradients("prod with a zero", &[t(&[3], &[2.0, 0.0, 3.0])], |x| x[0].prod(None, false));
    let huge = t(&[2], &[1e4, -1e4]);
    assert_values(&huge.softmax(0, None).expect("softmax"), &[2], &[1.0, 0.0]);
    assert_values(&huge.log_softmax(0, None).expect("log_softmax"), &[2], &[0.0, -2e4]);
    assert_values(&huge.logsumexp(&[0], false).expect("logsumexp"), &[], &[1e4]);
    let masked = t(&[2], &[-INF, -INF]);
    assert_values(&masked.softmax(0, None).expect("softmax"), &[2], &[NAN, NAN]);
    assert_values(&masked.logsumexp(&[0], false).expect("logsumexp"), &[], &[-INF]);
    assert_values(&t(&[], &[5.0]).softmax(0, None).expect("rank 0"), &[], &[1.0]);
    assert_eq!(t(&[2, 0], &[]).softmax(1, None).expect("empty").shape(), [2, 0]);
}

#[test]
fn gradients_at_zero_of_norm_and_std() {
    assert_values(&slope(&t(&[2], &[0.0, 0.0]), |x| x.norm(2.0, &[], false)), &[2], &[0.0, 0.0]);
    assert_values(&slope(&t(&[2], &[4.0, 4.0]), |x| x.std(&[], 1.0, false)), &[2], &[0.0, 0.0]);
}
