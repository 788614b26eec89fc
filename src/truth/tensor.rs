//! The tensor value: shape, shared storage and, if gradients are wanted, its place on the tape.

use std::fmt;
use std::sync::Arc;

use bytemuck::Pod;

use super::element::{Compute, Element, with_element};
use super::error::{Error, Result};
use super::number::Number;
use super::storage::Storage;
use super::tape::Node;
use crate::model::DType;

/// An immutable, contiguous, row-major tensor. Cloning shares storage; reshapes share it too.
#[derive(Clone)]
pub struct Tensor(Arc<Inner>);

struct Inner {
    storage: Arc<Storage>,
    shape: Vec<usize>,
    node: Option<Arc<Node>>,
}

impl Tensor {
    pub(crate) fn new(storage: Storage, shape: Vec<usize>) -> Self {
        Self(Arc::new(Inner { storage: Arc::new(storage), shape, node: None }))
    }

    /// The same elements under another shape of as many elements, off the tape.
    pub(crate) fn with_shape(&self, shape: Vec<usize>) -> Self {
        debug_assert_eq!(shape.iter().product::<usize>(), self.numel());
        Self(Arc::new(Inner { storage: self.0.storage.clone(), shape, node: None }))
    }

    pub(crate) fn with_node(&self, node: Arc<Node>) -> Self {
        Self(Arc::new(Inner { storage: self.0.storage.clone(), shape: self.0.shape.clone(), node: Some(node) }))
    }

    pub(crate) fn node(&self) -> Option<&Arc<Node>> {
        self.0.node.as_ref()
    }

    /// A tensor of `dtype` from its elements' bytes in native byte order, row-major. For bool any non-zero byte is true.
    pub fn from_bytes(dtype: DType, shape: &[usize], bytes: &[u8]) -> Result<Self> {
        let mut storage = Storage::scratch("from_bytes", dtype, shape)?;
        let target = storage.bytes_mut();
        if target.len() != bytes.len() {
            let message = format!("{dtype} of shape {shape:?} has {} bytes, got {}", target.len(), bytes.len());
            return Err(Error::misuse("from_bytes", message));
        }
        target.copy_from_slice(bytes);
        if dtype == DType::Bool {
            target.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
        }
        Ok(Self::new(storage, shape.to_vec()))
    }

    /// A float64 tensor from values in row-major order.
    pub fn from_f64(shape: &[usize], values: &[f64]) -> Result<Self> {
        Self::from_bytes(DType::F64, shape, bytemuck::cast_slice(values))
    }

    /// An int64 tensor from values in row-major order.
    pub fn from_i64(shape: &[usize], values: &[i64]) -> Result<Self> {
        Self::from_bytes(DType::I64, shape, bytemuck::cast_slice(values))
    }

    /// A rank-0 tensor; a float number gives float32 unless `dtype` says otherwise.
    pub fn scalar(value: impl Into<Number>, dtype: Option<DType>) -> Result<Self> {
        let value = value.into();
        Self::full(&[], value, Some(dtype.unwrap_or(value.dtype())))
    }

    /// The elements' bytes in native byte order, row-major.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.as_bytes().to_vec()
    }

    /// The elements' bytes in native byte order, row-major, without a copy.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.storage.bytes()
    }

    /// The elements as plain data of their width.
    pub(crate) fn raw<T: Pod>(&self) -> &[T] {
        self.0.storage.raw()
    }

    pub(crate) fn slice<T: Element>(&self) -> &[T] {
        self.0.storage.slice()
    }

    /// Whether nobody else holds this tensor or its storage.
    pub(crate) fn is_unique(&mut self) -> bool {
        Arc::get_mut(&mut self.0).is_some_and(|inner| Arc::get_mut(&mut inner.storage).is_some())
    }

    /// The storage for writing; copied first if anyone else holds it.
    pub(crate) fn make_mut(&mut self) -> Result<&mut Storage> {
        if !self.is_unique() {
            *self = Self::from_bytes(self.dtype(), self.shape(), self.as_bytes())?;
        }
        let unique = Arc::get_mut(&mut self.0).and_then(|inner| Arc::get_mut(&mut inner.storage));
        Ok(unique.expect("made unique above"))
    }

    pub fn dtype(&self) -> DType {
        self.0.storage.dtype()
    }

    pub fn shape(&self) -> &[usize] {
        &self.0.shape
    }

    pub fn ndim(&self) -> usize {
        self.0.shape.len()
    }

    pub fn numel(&self) -> usize {
        self.0.shape.iter().product()
    }

    /// A leaf of the tape with these elements: pass it to the computation and to [`super::grad`].
    pub fn requires_grad(&self) -> Result<Self> {
        if !self.dtype().is_float() {
            let message = format!("only floats have gradients, got {}", self.dtype());
            return Err(Error::misuse("requires_grad", message));
        }
        Ok(self.with_node(Node::leaf(self.shape(), self.dtype())))
    }

    /// Whether [`super::grad`] can reach this tensor.
    pub fn is_tracked(&self) -> bool {
        self.0.node.is_some()
    }

    /// The same elements off the tape.
    pub fn detach(&self) -> Self {
        if self.is_tracked() { self.with_shape(self.0.shape.clone()) } else { self.clone() }
    }

    /// Every element as f64 (integers above 2^53 are rounded).
    pub fn as_f64_vec(&self) -> Vec<f64> {
        with_element!(self.dtype(), T => self.slice::<T>().iter().map(|x| x.load().to_f64()).collect())
    }

    /// Every element as i64 (floats are truncated).
    pub fn as_i64_vec(&self) -> Vec<i64> {
        with_element!(self.dtype(), T => self.slice::<T>().iter().map(|x| x.load().to_i64()).collect())
    }

    /// The only element of a one-element tensor.
    pub fn item(&self) -> Result<Number> {
        if self.numel() != 1 {
            let message = format!("{} has {} elements, expected 1", self.describe(), self.numel());
            return Err(Error::misuse("item", message));
        }
        Ok(self.number_at(0))
    }

    pub(crate) fn number_at(&self, index: usize) -> Number {
        match self.dtype() {
            DType::Bool => Number::Bool(self.slice::<u8>()[index] != 0),
            dtype if dtype.is_float() => {
                Number::Float(with_element!(dtype, T => self.slice::<T>()[index].load().to_f64()))
            }
            dtype => Number::Int(with_element!(dtype, T => self.slice::<T>()[index].load().to_i64())),
        }
    }

    /// `float32[2, 3]`, for messages.
    pub fn describe(&self) -> String {
        format!("{}{:?}", self.dtype(), self.shape())
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 8;
        write!(f, "Tensor {} [", self.describe())?;
        for index in 0..self.numel().min(SHOWN) {
            let separator = if index == 0 { "" } else { ", " };
            match self.number_at(index) {
                Number::Bool(value) => write!(f, "{separator}{value}")?,
                Number::Int(value) => write!(f, "{separator}{value}")?,
                Number::Float(value) => write!(f, "{separator}{value}")?,
            }
        }
        f.write_str(if self.numel() > SHOWN { ", …]" } else { "]" })
    }
}
