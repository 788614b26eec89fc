//! Matrix products: batched, broadcast, with vectors; float32 sums for the half types.

use crate::model::DType;
use crate::truth::element::{Element, Real};
use crate::truth::error::{Error, Result};
use crate::truth::kernel::{Matrix, batched_gemm, broadcast_shape, row_major};
use crate::truth::storage::Storage;
use crate::truth::tape::record;
use crate::truth::tensor::Tensor;

impl Tensor {
    /// `torch.matmul`: matrix product over the last two dims, others broadcast; a vector is a row on the left and a
    /// column on the right, and its dim vanishes from the result.
    pub fn matmul(&self, other: &Self) -> Result<Self> {
        let fault = |why: String| Error::misuse("matmul", format!("{:?} @ {:?}: {why}", self.shape(), other.shape()));
        if self.ndim() == 0 || other.ndim() == 0 {
            return Err(fault("both need at least one dim".into()));
        }
        if self.dtype() != other.dtype() {
            let message = format!("dtypes {} and {} differ; convert one with to", self.dtype(), other.dtype());
            return Err(fault(message));
        }
        let a = if self.ndim() == 1 { self.unsqueeze(0)? } else { self.clone() };
        let b = if other.ndim() == 1 { other.unsqueeze(1)? } else { other.clone() };
        let (inner_a, inner_b) = (a.shape()[a.ndim() - 1], b.shape()[b.ndim() - 2]);
        if inner_a != inner_b {
            return Err(fault(format!("inner extents {inner_a} and {inner_b} differ")));
        }
        let product = a.in_compute_dtype(|a| product(a, &b.to_dtype(a.dtype())?, false, false))?;
        match (self.ndim(), other.ndim()) {
            (1, 1) => product.reshape_to(Vec::new()),
            (1, _) => product.squeeze(&[-2]),
            (_, 1) => product.squeeze(&[-1]),
            _ => Ok(product),
        }
    }

    /// `torch.bmm`: two rank-3 stacks of matrices.
    pub fn bmm(&self, other: &Self) -> Result<Self> {
        if self.ndim() != 3 || other.ndim() != 3 || self.shape()[0] != other.shape()[0] {
            let message = format!("expected [b, n, k] and [b, k, m], got {:?} and {:?}", self.shape(), other.shape());
            return Err(Error::misuse("bmm", message));
        }
        self.matmul(other)
    }

    /// `beta * self + alpha * a @ b`, for matrices; self is broadcast.
    pub fn addmm(&self, a: &Self, b: &Self, beta: f64, alpha: f64) -> Result<Self> {
        if a.ndim() != 2 || b.ndim() != 2 {
            let message = format!("expected two matrices, got {:?} and {:?}", a.shape(), b.shape());
            return Err(Error::misuse("addmm", message));
        }
        self.in_compute_dtype(|x| {
            let product = a.to_dtype(x.dtype())?.matmul(&b.to_dtype(x.dtype())?)?;
            let product = if alpha == 1.0 { product } else { product.mul(alpha)? };
            // As in PyTorch, a zero beta ignores self, NaN included.
            match beta {
                0.0 => product.broadcast_to(&broadcast_shape("addmm", x.shape(), product.shape())?),
                1.0 => x.add(&product),
                _ => x.mul(beta)?.add(&product),
            }
        })
    }

    /// `x @ weight^T + bias` over the last dim; `weight` is `[out, in]`.
    pub fn linear(&self, weight: &Self, bias: Option<&Self>) -> Result<Self> {
        let fits = weight.ndim() == 2 && self.ndim() >= 1 && weight.shape()[1] == self.shape()[self.ndim() - 1];
        if !fits || weight.dtype() != self.dtype() {
            let message =
                format!("expected x [..., in] and weight [out, in], got {} and {}", self.describe(), weight.describe());
            return Err(Error::misuse("linear", message));
        }
        self.in_compute_dtype(|x| {
            let (inner, out) = (weight.shape()[1], weight.shape()[0]);
            let rows = x.numel() / inner.max(1);
            let rows = if inner == 0 { x.shape()[..x.ndim() - 1].iter().product() } else { rows };
            let mut shape = x.shape().to_vec();
            *shape.last_mut().unwrap_or(&mut 0) = out;
            let y = product(&x.reshape_to(vec![rows, inner])?, &weight.to_dtype(x.dtype())?, false, true)?;
            let y = y.reshape_to(shape)?;
            match bias {
                Some(bias) => y.add(&bias.to_dtype(x.dtype())?),
                None => Ok(y),
            }
        })
    }
}

/// `op(a) @ op(b)` for stacks of matrices of one dtype, batch dims broadcast; `trans` swaps the last two dims.
pub(super) fn product(a: &Tensor, b: &Tensor, trans_a: bool, trans_b: bool) -> Result<Tensor> {
    let y = match a.dtype() {
        DType::F64 => multiply::<f64>(a, b, trans_a, trans_b)?,
        DType::F32 => multiply::<f32>(a, b, trans_a, trans_b)?,
        dtype @ (DType::I64 | DType::I32 | DType::I8) => {
            multiply_int(&a.to_dtype(DType::I64)?, &b.to_dtype(DType::I64)?, trans_a, trans_b)?.to_dtype(dtype)?
        }
        dtype => return Err(Error::misuse("matmul", format!("not defined for {dtype}"))),
    };
    Ok(record("matmul", &[a, b], y, |_| {
        let (a, b) = (a.detach(), b.detach());
        move |g: Tensor, sink| {
            if sink.wants(0) {
                let by_a = if trans_a { product(&b, &g, trans_b, true)? } else { product(&g, &b, false, !trans_b)? };
                sink.add(0, by_a)?;
            }
            if sink.wants(1) {
                let by_b = if trans_b { product(&g, &a, true, trans_a)? } else { product(&a, &g, !trans_a, false)? };
                sink.add(1, by_b)?;
            }
            Ok(())
        }
    }))
}

/// Where each broadcast batch's matrices lie, and the extents of one product.
struct Layout {
    shape: Vec<usize>,
    a_offsets: Vec<usize>,
    b_offsets: Vec<usize>,
    extents: [usize; 3],
}

impl Layout {
    fn new(a: &[usize], b: &[usize], trans_a: bool, trans_b: bool) -> Result<Self> {
        let (batch_a, [rows_a, columns_a]) = split_batch(a);
        let (batch_b, [rows_b, columns_b]) = split_batch(b);
        let (m, k) = if trans_a { (columns_a, rows_a) } else { (rows_a, columns_a) };
        let n = if trans_b { rows_b } else { columns_b };
        let batch = broadcast_shape("matmul", batch_a, batch_b)?;
        let (a_offsets, b_offsets) =
            (batch_offsets(batch_a, &batch, rows_a * columns_a), batch_offsets(batch_b, &batch, rows_b * columns_b));
        let mut shape = batch;
        shape.extend([m, n]);
        Ok(Self { shape, a_offsets, b_offsets, extents: [m, n, k] })
    }
}

fn split_batch(shape: &[usize]) -> (&[usize], [usize; 2]) {
    let (batch, matrix) = shape.split_at(shape.len() - 2);
    (batch, [matrix[0], matrix[1]])
}

/// Element offset of each matrix of the broadcast batch.
fn batch_offsets(own: &[usize], batch: &[usize], size: usize) -> Vec<usize> {
    let (strides, lead) = (row_major(own), batch.len() - own.len());
    let offset = |mut index: usize| {
        let mut matrix = 0;
        for dim in (0..batch.len()).rev() {
            let position = index % batch[dim];
            index /= batch[dim];
            if dim >= lead && own[dim - lead] != 1 {
                matrix += position * strides[dim - lead] as usize;
            }
        }
        matrix * size
    };
    (0..batch.iter().product()).map(offset).collect()
}

fn multiply<T: Element + Real>(a: &Tensor, b: &Tensor, trans_a: bool, trans_b: bool) -> Result<Tensor> {
    let layout = Layout::new(a.shape(), b.shape(), trans_a, trans_b)?;
    let mut storage = Storage::scratch("matmul", T::DTYPE, &layout.shape)?;
    let matrix = |data, offsets, columns: usize, trans| {
        let (row_stride, column_stride) = if trans { (1, columns) } else { (columns, 1) };
        Matrix { data, offsets, row_stride, column_stride }
    };
    let a = matrix(a.slice::<T>(), &layout.a_offsets, a.shape()[a.ndim() - 1], trans_a);
    let b = matrix(b.slice::<T>(), &layout.b_offsets, b.shape()[b.ndim() - 1], trans_b);
    batched_gemm(storage.slice_mut::<T>(), &a, &b, layout.extents);
    Ok(Tensor::new(storage, layout.shape))
}

/// Integers wrap; a plain loop, since no reference multiplies large integer matrices.
fn multiply_int(a: &Tensor, b: &Tensor, trans_a: bool, trans_b: bool) -> Result<Tensor> {
    let layout = Layout::new(a.shape(), b.shape(), trans_a, trans_b)?;
    let [m, n, k] = layout.extents;
    let mut storage = Storage::scratch("matmul", DType::I64, &layout.shape)?;
    let (x, y) = (a.slice::<i64>(), b.slice::<i64>());
    for (at, out) in storage.slice_mut::<i64>().iter_mut().enumerate() {
        let (batch, row, column) = (at / (m * n), at / n % m, at % n);
        let (from_a, from_b) = (layout.a_offsets[batch], layout.b_offsets[batch]);
        let sum = (0..k).fold(0i64, |sum, i| {
            let left = x[from_a + if trans_a { i * m + row } else { row * k + i }];
            let right = y[from_b + if trans_b { column * k + i } else { i * n + column }];
            sum.wrapping_add(left.wrapping_mul(right))
        });
        *out = sum;
    }
    Ok(Tensor::new(storage, layout.shape))
}
