use super::support::{assert_values, check_gradients, draw, ints, slope, t};
use crate::model::DType;
use crate::truth::{Approximate, Number, Operand, Result, Tensor};

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

type Unary = fn(&Tensor) -> Result<Tensor>;

#[test]
fn unary_values() {
    let cases: [(&str, Unary, f64, f64); 34] = [
        ("neg", Tensor::neg, 1.5, -1.5),
        ("square", Tensor::square, -3.0, 9.0),
        ("sqrt", Tensor::sqrt, 2.25, 1.5),
        ("rsqrt", Tensor::rsqrt, 4.0, 0.5),
        ("exp", Tensor::exp, 1.0, std::f64::consts::E),
        ("exp2", Tensor::exp2, 3.0, 8.0),
        ("expm1", Tensor::expm1, 1e-20, 1e-20),
        ("log", Tensor::log, std::f64::consts::E, 1.0),
        ("log2", Tensor::log2, 8.0, 3.0),
        ("log1p", Tensor::log1p, 1e-20, 1e-20),
        ("abs", Tensor::abs, -2.0, 2.0),
        ("sign", Tensor::sign, -2.0, -1.0),
        ("sign nan", Tensor::sign, NAN, 0.0),
        ("sigmoid", Tensor::sigmoid, 0.0, 0.5),
        ("sigmoid low", Tensor::sigmoid, -800.0, 0.0),
        ("silu", Tensor::silu, 1.0, 0.731_058_578_630_004_9),
        ("gelu", |x| x.gelu(Approximate::None), 1.0, 0.841_344_746_068_542_9),
        ("gelu tanh", |x| x.gelu(Approximate::Tanh), 1.0, 0.841_191_990_608_276_8),
        ("tanh", Tensor::tanh, 1.0, 0.761_594_155_955_764_9),
        ("relu", Tensor::relu, -1.0, 0.0),
        ("relu nan", Tensor::relu, NAN, NAN),
        ("leaky_relu", |x| x.leaky_relu(0.1), -2.0, -0.2),
        ("elu", |x| x.elu(1.0), -1.0, (-1.0f64).exp_m1()),
        ("softplus", |x| x.softplus(1.0, 20.0), 0.0, std::f64::consts::LN_2),
        ("softplus linear", |x| x.softplus(1.0, 20.0), 21.0, 21.0),
        ("logsigmoid", Tensor::logsigmoid, -1000.0, -1000.0),
        ("logsigmoid nan", Tensor::logsigmoid, NAN, NAN),
        ("sin", Tensor::sin, 0.0, 0.0),
        ("cos", Tensor::cos, 0.0, 1.0),
        ("erf", Tensor::erf, 1.0, 0.842_700_792_949_714_9),
        ("reciprocal", Tensor::reciprocal, 4.0, 0.25),
        ("floor", Tensor::floor, -1.5, -2.0),
        ("round half to even", Tensor::round, 2.5, 2.0),
        ("trunc", Tensor::trunc, -1.5, -1.0),
    ];
    for (name, f, x, expected) in cases {
        let got = f(&t(&[], &[x])).expect(name).as_f64_vec()[0];
        assert!((got - expected).abs() <= 2e-15 * expected.abs() || got.is_nan() && expected.is_nan(), "{name}: {got}");
    }
}

#[test]
fn unary_gradients() {
    let positive: [(&str, Unary); 6] = [
        ("sqrt", Tensor::sqrt),
        ("rsqrt", Tensor::rsqrt),
        ("log", Tensor::log),
        ("log2", Tensor::log2),
        ("log1p", Tensor::log1p),
        ("reciprocal", Tensor::reciprocal),
    ];
    for (name, f) in positive {
        check_gradients(name, &[draw(&[3, 5], 1, 0.3, 3.0)], |x| f(&x[0]));
    }
    let signed: [(&str, Unary); 20] = [
        ("neg", Tensor::neg),
        ("square", Tensor::square),
        ("exp", Tensor::exp),
        ("exp2", Tensor::exp2),
        ("expm1", Tensor::expm1),
        ("abs", Tensor::abs),
        ("sigmoid", Tensor::sigmoid),
        ("silu", Tensor::silu),
        ("gelu", |x| x.gelu(Approximate::None)),
        ("gelu tanh", |x| x.gelu(Approximate::Tanh)),
        ("tanh", Tensor::tanh),
        ("relu", Tensor::relu),
        ("leaky_relu", |x| x.leaky_relu(0.2)),
        ("elu", |x| x.elu(1.5)),
        ("softplus", |x| x.softplus(2.0, 3.0)),
        ("logsigmoid", Tensor::logsigmoid),
        ("sin", Tensor::sin),
        ("cos", Tensor::cos),
        ("erf", Tensor::erf),
        ("clamp", |x| x.clamp(Some(Number::Float(-1.0)), Some(Number::Float(0.75)))),
    ];
    for (name, f) in signed {
        for shape in [&[][..], &[7], &[2, 3, 5], &[0, 3]] {
            check_gradients(name, &[draw(shape, 2, -2.5, 2.5)], |x| f(&x[0]));
        }
    }
    for f in [Tensor::floor, Tensor::ceil, Tensor::round, Tensor::trunc, Tensor::sign] {
        assert_values(&slope(&t(&[2], &[0.3, -1.7]), f), &[2], &[0.0, 0.0]);
    }
}

#[test]
fn sub_gradients_are_those_of_pytorch() {
    let x = t(&[3], &[-1.0, 0.0, 1.0]);
    assert_values(&slope(&x, Tensor::abs), &[3], &[-1.0, 0.0, 1.0]);
    assert_values(&slope(&x, Tensor::relu), &[3], &[0.0, 0.0, 1.0]);
    let clamp = |x: &Tensor| x.clamp(Some(Number::Float(-1.0)), Some(Number::Float(0.0)));
    assert_values(&slope(&x, clamp), &[3], &[1.0, 1.0, 0.0]);
    assert_values(&slope(&x, |x| x.maximum(0.0)), &[3], &[0.0, 0.5, 1.0]);
    assert_values(&slope(&x, |x| x.pow(0.0)), &[3], &[0.0, 0.0, 0.0]);
    assert_values(&slope(&t(&[3], &[NAN, 1.0, INF]), |x| x.nan_to_num(0.0, None, None)), &[3], &[0.0, 1.0, 0.0]);
    assert_values(&slope(&t(&[1], &[NAN]), Tensor::relu), &[1], &[1.0]);
}

type Binary = fn(&Tensor, Operand) -> Result<Tensor>;

const BINARY: [(&str, Binary); 10] = [
    ("add", |a, b| a.add(b)),
    ("sub", |a, b| a.sub(b)),
    ("mul", |a, b| a.mul(b)),
    ("div", |a, b| a.div(b)),
    ("pow", |a, b| a.pow(b)),
    ("maximum", |a, b| a.maximum(b)),
    ("minimum", |a, b| a.minimum(b)),
    ("logaddexp", |a, b| a.logaddexp(b)),
    ("xlogy", |a, b| a.xlogy(b)),
    ("remainder", |a, b| a.remainder(b)),
];

#[test]
fn binary_gradients_with_broadcasting() {
    let shapes: [(&[usize], &[usize]); 8] = [
        (&[3, 5], &[3, 5]),
        (&[3, 5], &[5]),
        (&[3, 5], &[3, 1]),
        (&[5], &[3, 1]),
        (&[2, 1, 3], &[4, 1]),
        (&[], &[3]),
        (&[1, 1], &[2]),
        (&[0, 3], &[3]),
    ];
    for (name, f) in BINARY {
        for (a, b) in shapes {
            let inputs = [draw(a, 3, 0.4, 2.5), draw(b, 4, 0.6, 2.0)];
            check_gradients(&format!("{name} {a:?} {b:?}"), &inputs, |x| f(&x[0], Operand::from(&x[1])));
        }
        check_gradients(name, &[draw(&[7], 5, 0.4, 2.5)], |x| f(&x[0], 1.25.into()));
    }
    let from_number: [fn(Operand, Operand) -> Result<Tensor>; 4] =
        [Tensor::sub_operands, Tensor::div_operands, Tensor::pow_operands, Tensor::remainder_operands];
    for f in from_number {
        check_gradients("number first", &[draw(&[7], 5, 0.6, 2.5)], |x| f(1.75.into(), Operand::from(&x[0])));
    }
}

#[test]
fn three_operands() {
    let [a, b, c] = [draw(&[2, 3], 1, -1.0, 1.0), draw(&[3], 2, -1.0, 1.0), draw(&[2, 1], 3, -1.0, 1.0)];
    check_gradients("addcmul", &[a.clone(), b.clone(), c.clone()], |x| x[0].addcmul(&x[1], &x[2], 0.5));
    check_gradients("lerp", &[a.clone(), b.clone(), c.clone()], |x| x[0].lerp(&x[1], &x[2]));
    let mask = a.gt(0.0).expect("a mask");
    check_gradients("where", &[b.clone(), c.clone()], |x| Tensor::select_where(&mask, &x[0], &x[1]));
    check_gradients("masked_fill", &[a], |x| x[0].masked_fill(&mask, f64::NEG_INFINITY)?.exp());
    let picked = Tensor::select_where(&ints(&[2], &[1, 0]).to_dtype(DType::Bool).expect("a mask"), 1i64, NAN);
    assert_values(&picked.expect("promotes to float"), &[2], &[1.0, NAN]);
}

#[test]
fn edge_values_of_binary_ops() {
    let check = |name: &str, f: Binary, a: f64, b: f64, expected: f64| {
        let got = f(&t(&[1], &[a]), Operand::from(&t(&[1], &[b]))).expect(name).as_f64_vec()[0];
        assert!(got == expected || got.is_nan() && expected.is_nan(), "{name}({a}, {b}) = {got}");
    };
    check("maximum", |a, b| a.maximum(b), NAN, 1.0, NAN);
    check("maximum", |a, b| a.maximum(b), 1.0, NAN, NAN);
    check("minimum", |a, b| a.minimum(b), 1.0, NAN, NAN);
    check("xlogy", |a, b| a.xlogy(b), 0.0, 0.0, 0.0);
    check("xlogy", |a, b| a.xlogy(b), 0.0, NAN, NAN);
    check("logaddexp", |a, b| a.logaddexp(b), -INF, -INF, -INF);
    check("logaddexp", |a, b| a.logaddexp(b), INF, INF, INF);
    check("remainder", |a, b| a.remainder(b), -1.0, 3.0, 2.0);
    check("remainder", |a, b| a.remainder(b), 1.0, -3.0, -2.0);
    check("floor_divide", |a, b| a.floor_divide(b), -7.0, 2.0, -4.0);
    check("floor_divide", |a, b| a.floor_divide(b), 1.0, 0.0, INF);
    check("floor_divide", |a, b| a.floor_divide(b), 1.0, 0.1, 9.0);
}

#[test]
fn integers_and_promotion() {
    let x = ints(&[3], &[7, -7, 0]);
    assert_values(&x.floor_divide(2i64).expect("ints"), &[3], &[3.0, -4.0, 0.0]);
    assert_values(&x.remainder(-4i64).expect("ints"), &[3], &[-1.0, -3.0, 0.0]);
    assert_values(&x.trunc_divide(2i64).expect("ints"), &[3], &[3.0, -3.0, 0.0]);
    assert!(x.floor_divide(0i64).expect_err("zero").to_string().contains("division by zero"));
    assert!(x.pow(-1i64).expect_err("negative").to_string().contains("negative powers"));
    assert_eq!(x.div(2i64).expect("true division").dtype(), DType::F32);
    assert_eq!(x.add(1.5).expect("float scalar").dtype(), DType::F32);
    assert_eq!(x.exp().expect("float result").dtype(), DType::F32);
    let half = t(&[2], &[1.0, 2.0]).to_dtype(DType::BF16).expect("casts");
    assert_eq!(half.mul(1e-3).expect("a scalar does not promote").dtype(), DType::BF16);
    assert_eq!(half.mul(t(&[], &[2.0])).expect("nor does rank 0").dtype(), DType::BF16);
    assert_eq!(half.mul(t(&[1], &[2.0])).expect("rank 1 does").dtype(), DType::F64);
    assert_eq!(half.add(x.narrow(0, 0, 2).expect("a part")).expect("int tensor").dtype(), DType::BF16);
    let small = ints(&[1], &[120]).to_dtype(DType::I8).expect("casts");
    assert_values(&small.add(10i64).expect("wraps"), &[1], &[-126.0]);
    let bits = ints(&[2], &[1, 0]).to_dtype(DType::Bool).expect("casts");
    assert_values(&bits.add(true).expect("or"), &[2], &[1.0, 1.0]);
    assert!(bits.sub(true).is_err() && bits.neg().is_err());
    assert_values(&x.lt(0i64).expect("compares").logical_xor(true).expect("logic"), &[3], &[1.0, 0.0, 1.0]);
    let big = ints(&[1], &[(1 << 53) + 1]);
    assert_values(&big.eq(1i64 << 53).expect("exact"), &[1], &[0.0]);
}

#[test]
fn shapes_that_do_not_broadcast_are_named() {
    let error = t(&[2, 3], &[0.0; 6]).add(t(&[2], &[0.0; 2])).expect_err("2 and 3").to_string();
    assert_eq!(error, "add: shapes [2, 3] and [2] do not broadcast: extents 3 and 2 differ at dim 1");
}
