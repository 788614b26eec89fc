use super::support::{assert_values, check_gradients, draw, ints, t};
use crate::model::DType;
use crate::truth::Tensor;

#[test]
fn matmul_shapes_and_gradients() {
    let cases: [(&[usize], &[usize], &[usize]); 10] = [
        (&[3, 4], &[4, 5], &[3, 5]),
        (&[4], &[4], &[]),
        (&[4], &[4, 5], &[5]),
        (&[3, 4], &[4], &[3]),
        (&[2, 3, 4], &[4, 5], &[2, 3, 5]),
        (&[2, 3, 4], &[2, 4, 1], &[2, 3, 1]),
        (&[2, 1, 3, 4], &[5, 4, 2], &[2, 5, 3, 2]),
        (&[4], &[2, 4, 3], &[2, 3]),
        (&[2, 0], &[0, 3], &[2, 3]),
        (&[0, 3], &[3, 2], &[0, 2]),
    ];
    for (a, b, expected) in cases {
        let inputs = [draw(a, 1, -1.0, 1.0), draw(b, 2, -1.0, 1.0)];
        assert_eq!(inputs[0].matmul(&inputs[1]).expect("matmul").shape(), expected);
        check_gradients(&format!("matmul {a:?} {b:?}"), &inputs, |x| x[0].matmul(&x[1]));
    }
    let x = t(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);
    assert_values(&x.matmul(&x).expect("matmul"), &[2, 2], &[7.0, 10.0, 15.0, 22.0]);
    let whole = ints(&[2, 2], &[1, 2, 3, 4]);
    assert_values(&whole.matmul(&whole).expect("matmul"), &[2, 2], &[7.0, 10.0, 15.0, 22.0]);
}

#[test]
fn panels_agree_with_a_plain_loop() {
    let (m, k, n) = (257, 33, 19);
    let (a, b) = (draw(&[m, k], 1, -1.0, 1.0), draw(&[k, n], 2, -1.0, 1.0));
    let (x, y, z) = (a.as_f64_vec(), b.as_f64_vec(), a.matmul(&b).expect("matmul").as_f64_vec());
    for (at, value) in z.iter().enumerate() {
        let plain: f64 = (0..k).map(|i| x[at / n * k + i] * y[i * n + at % n]).sum();
        assert!((value - plain).abs() < 1e-12);
    }
}

#[test]
fn products_built_on_matmul() {
    let (x, w, b) = (draw(&[2, 3, 4], 1, -1.0, 1.0), draw(&[5, 4], 2, -1.0, 1.0), draw(&[5], 3, -1.0, 1.0));
    check_gradients("linear", &[x.clone(), w.clone(), b.clone()], |x| x[0].linear(&x[1], Some(&x[2])));
    check_gradients("linear", &[x.clone(), w.clone()], |x| x[0].linear(&x[1], None));
    let (a, c) = (draw(&[3, 4], 4, -1.0, 1.0), draw(&[4, 5], 5, -1.0, 1.0));
    check_gradients("addmm", &[b.clone(), a.clone(), c.clone()], |x| x[0].addmm(&x[1], &x[2], 0.5, 2.0));
    let nan = t(&[1], &[f64::NAN]);
    assert!(nan.addmm(&a, &c, 0.0, 1.0).expect("addmm").equal(&a.matmul(&c).expect("matmul")));
    check_gradients("bmm", &[x.clone(), draw(&[2, 4, 3], 6, -1.0, 1.0)], |x| x[0].bmm(&x[1]));
}

#[test]
fn einsum_values_and_gradients() {
    let draws = |shapes: &[&[usize]]| -> Vec<Tensor> {
        shapes.iter().enumerate().map(|(seed, shape)| draw(shape, seed as u64, -1.0, 1.0)).collect()
    };
    type Case<'a> = (&'a str, &'a [&'a [usize]], &'a [usize]);
    let cases: [Case; 16] = [
        ("ij,jk->ik", &[&[2, 3], &[3, 4]], &[2, 4]),
        ("ij,jk", &[&[2, 3], &[3, 4]], &[2, 4]),
        ("bhid, bhjd -> bhij", &[&[2, 3, 4, 5], &[2, 3, 6, 5]], &[2, 3, 4, 6]),
        ("bthd,bhde->bthe", &[&[2, 3, 2, 4], &[2, 2, 4, 5]], &[2, 3, 2, 5]),
        ("i,j->ij", &[&[3], &[4]], &[3, 4]),
        ("ii->i", &[&[3, 3]], &[3]),
        ("ii", &[&[3, 3]], &[]),
        ("ij->ji", &[&[2, 3]], &[3, 2]),
        ("ijk->j", &[&[2, 3, 4]], &[3]),
        ("...ij,...jk->...ik", &[&[2, 3, 4], &[4, 5]], &[2, 3, 5]),
        ("...d,d->...", &[&[2, 3, 4], &[4]], &[2, 3]),
        ("a...,b...->...ab", &[&[2, 3], &[4, 3]], &[3, 2, 4]),
        ("ij,jk,kl->il", &[&[2, 3], &[3, 4], &[4, 2]], &[2, 2]),
        ("bi,bj,bk->bijk", &[&[2, 3], &[2, 2], &[2, 4]], &[2, 3, 2, 4]),
        ("ij,ij->", &[&[2, 3], &[2, 3]], &[]),
        ("ij,j->i", &[&[2, 3], &[1]], &[2]),
    ];
    for (equation, shapes, expected) in cases {
        let operands = draws(shapes);
        assert_eq!(Tensor::einsum(equation, &operands).expect(equation).shape(), expected, "{equation}");
        check_gradients(equation, &operands, |x| Tensor::einsum(equation, x));
    }
    let x = draw(&[3, 3], 1, -1.0, 1.0);
    let trace: f64 = (0..3).map(|i| x.as_f64_vec()[i * 4]).sum();
    assert_values(&Tensor::einsum("ii", std::slice::from_ref(&x)).expect("trace"), &[], &[trace]);
    let outer = Tensor::einsum("bi,bj->bij", &[x.clone(), x.clone()]).expect("outer");
    let plain = x.unsqueeze(2).and_then(|a| a.mul(&x.unsqueeze(1)?)).expect("outer");
    assert!(outer.allclose(&plain, 0.0, 1e-15).expect("compares"));
    assert_eq!(Tensor::einsum("ij,jk->ik", &[t(&[2, 0], &[]), t(&[0, 3], &[])]).expect("empty").as_f64_vec(), [0.0; 6]);
}

#[test]
fn misuse_is_named() {
    let (a, b) = (draw(&[3, 4], 1, 0.0, 1.0), draw(&[5, 6], 2, 0.0, 1.0));
    let cases = [
        (a.matmul(&b), "matmul: [3, 4] @ [5, 6]: inner extents 4 and 5 differ"),
        (a.matmul(&t(&[], &[1.0])), "matmul: [3, 4] @ []: both need at least one dim"),
        (
            a.matmul(&a.to_dtype(DType::F32).expect("casts")),
            "matmul: [3, 4] @ [3, 4]: dtypes float64 and float32 differ; convert one with to",
        ),
        (
            draw(&[2, 3, 4], 1, 0.0, 1.0).matmul(&draw(&[3, 4, 5], 1, 0.0, 1.0)),
            "matmul: shapes [2] and [3] do not broadcast: extents 2 and 3 differ at dim 0",
        ),
        (a.linear(&b, None), "linear: expected x [..., in] and weight [out, in], got float64[3, 4] and float64[5, 6]"),
        (
            Tensor::einsum("ij,jk->ik", &[a.clone(), b.clone()]),
            "einsum: 'ij,jk->ik': subscript 'j' has extents 4 and 5",
        ),
        (
            Tensor::einsum("ij->ix", std::slice::from_ref(&a)),
            "einsum: 'ij->ix': output subscript 'x' names no dim of an operand",
        ),
        (Tensor::einsum("ijk", std::slice::from_ref(&a)), "einsum: 'ijk': operand 0 has shape [3, 4] but 3 subscripts"),
        (Tensor::einsum("i1", std::slice::from_ref(&a)), "einsum: 'i1': '1' is not a letter"),
        (Tensor::einsum("ij,jk", std::slice::from_ref(&a)), "einsum: 'ij,jk': 2 subscripts for 1 operands"),
    ];
    for (result, expected) in cases {
        assert_eq!(result.expect_err(expected).to_string(), expected);
    }
}
