use super::support::{assert_values, check_gradients, draw, ints, slope, t};
use crate::model::DType;
use crate::truth::Tensor;

#[test]
fn gather_and_scatter() {
    let x = t(&[2, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let index = ints(&[2, 2], &[2, 0, 1, 1]);
    assert_values(&x.gather(1, &index).expect("gather"), &[2, 2], &[2.0, 0.0, 4.0, 4.0]);
    assert_values(&x.gather(0, &ints(&[1, 3], &[1, 0, 1])).expect("gather"), &[1, 3], &[3.0, 1.0, 5.0]);
    let source = t(&[2, 2], &[10.0, 20.0, 30.0, 40.0]);
    assert_values(&x.scatter(1, &index, &source).expect("scatter"), &[2, 3], &[20.0, 1.0, 10.0, 3.0, 40.0, 5.0]);
    let added = x.scatter_add(1, &index, &source).expect("scatter_add");
    assert_values(&added, &[2, 3], &[20.0, 1.0, 12.0, 3.0, 74.0, 5.0]);
    let (x, source) = (draw(&[2, 3], 1, -1.0, 1.0), draw(&[2, 2], 2, -1.0, 1.0));
    check_gradients("gather", std::slice::from_ref(&x), |x| x[0].gather(1, &index));
    check_gradients("scatter_add", &[x.clone(), source], |x| x[0].scatter_add(1, &index, &x[1]));
    let distinct = ints(&[2, 2], &[2, 0, 1, 0]);
    check_gradients("scatter", &[x, draw(&[3, 2], 3, -1.0, 1.0)], |x| x[0].scatter(1, &distinct, &x[1]));
}

#[test]
fn rows_by_index() {
    let table = draw(&[5, 3], 1, -1.0, 1.0);
    let index = ints(&[2, 2], &[4, 0, 4, 1]);
    check_gradients("embedding", std::slice::from_ref(&table), |x| Tensor::embedding(&index, &x[0], None));
    let picked = Tensor::embedding(&index, &table, None).expect("embedding");
    assert_eq!(picked.shape(), [2, 2, 3]);
    assert!(picked.select(0, 0).and_then(|x| x.select(0, 0)).expect("row").equal(&table.select(0, 4).expect("row")));
    let padded = slope(&t(&[3, 1], &[1.0, 2.0, 3.0]), |x| Tensor::embedding(&ints(&[4], &[0, 2, 2, 1]), x, Some(-1)));
    assert_values(&padded, &[3, 1], &[1.0, 1.0, 0.0]);
    let rows = ints(&[3], &[2, 0, 2]).to_dtype(DType::I32).expect("casts");
    for dim in [0, 1] {
        let x = draw(&[4, 3], 2, -1.0, 1.0);
        check_gradients("index_select", std::slice::from_ref(&x), |x| x[0].index_select(dim, &rows));
        let source = x.index_select(dim, &rows).expect("selects");
        check_gradients("index_add", &[x, source], |x| x[0].index_add(dim, &rows, &x[1], 0.5));
    }
    assert_values(&t(&[3], &[1.0, 2.0, 3.0]).index_select(0, &ints(&[0], &[])).expect("empty"), &[0], &[]);
}

#[test]
fn indices_outside_are_errors() {
    let x = t(&[2, 2], &[0.0; 4]);
    for bad in [2, -1, i64::MAX, i64::MIN] {
        let index = ints(&[1, 1], &[bad]);
        let message = format!("gather: index {bad} is out of range for extent 2");
        assert_eq!(x.gather(0, &index).expect_err("outside").to_string(), message);
        assert!(Tensor::embedding(&index, &x, None).is_err());
        assert!(x.scatter(1, &index, &t(&[1, 1], &[0.0])).is_err());
    }
    assert!(x.gather(0, &t(&[1, 1], &[0.0])).expect_err("float").to_string().contains("expected int64 or int32"));
    assert!(x.gather(0, &ints(&[1], &[0])).expect_err("rank").to_string().contains("does not fit"));
    assert!(x.gather(0, &ints(&[1, 3], &[0; 3])).expect_err("extent").to_string().contains("does not fit"));
}
