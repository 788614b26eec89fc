//! Elements by integer index. Indices outside the extent are errors, never reads elsewhere.

use super::reduce::split_at_dim;
use super::shape::normalize_dim;
use crate::model::DType;
use crate::truth::element::{Compute, Element, with_element, with_width};
use crate::truth::error::{Error, Result};
use crate::truth::kernel::fill;
use crate::truth::tape::record;
use crate::truth::tensor::Tensor;

/// The positions in `index` (int64, int32 or int8) for a dim of `extent`; negative ones only where `wrap` allows.
fn positions(op: &'static str, index: &Tensor, extent: usize, wrap: bool) -> Result<Vec<usize>> {
    if index.dtype().is_float() || index.dtype() == DType::Bool {
        return Err(Error::misuse(op, format!("the index is {}, expected int64 or int32", index.describe())));
    }
    let resolve = |value: i64| {
        let position = if wrap && value < 0 { value + extent as i64 } else { value };
        let inside = (0..extent as i64).contains(&position);
        inside
            .then_some(position as usize)
            .ok_or_else(|| Error::misuse(op, format!("index {value} is out of range for extent {extent}")))
    };
    index.as_i64_vec().into_iter().map(resolve).collect()
}

/// How an element meets what was there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Write {
    Replace,
    Add,
}

impl Tensor {
    /// `out[i][j] = x[index[i][j]][j]` (for dim 0): one element per index.
    pub fn gather(&self, dim: isize, index: &Self) -> Result<Self> {
        let at = normalize_dim("gather", dim, self.ndim())?;
        self.check_index_shape("gather", at, index)?;
        if self.ndim() == 0 {
            return Ok(self.clone());
        }
        let places = self.places("gather", at, index)?;
        let y = self.read_places(&places, index.shape())?;
        Ok(record("gather", &[self], y, |_| {
            move |g: Self, sink| sink.add_part(0, |full| full.write_places(&places, &g, Write::Add))
        }))
    }

    /// A copy with `source`'s elements written where `index` points along `dim` (a later duplicate wins).
    pub fn scatter(&self, dim: isize, index: &Self, source: &Self) -> Result<Self> {
        self.write_at("scatter", dim, index, source, Write::Replace)
    }

    /// A copy with `source`'s elements added where `index` points along `dim`, in order.
    pub fn scatter_add(&self, dim: isize, index: &Self, source: &Self) -> Result<Self> {
        self.write_at("scatter_add", dim, index, source, Write::Add)
    }

    fn write_at(&self, op: &'static str, dim: isize, index: &Self, source: &Self, write: Write) -> Result<Self> {
        let at = normalize_dim(op, dim, self.ndim())?;
        self.check_index_shape(op, at, index)?;
        let covered = source.ndim() == index.ndim() && index.shape().iter().zip(source.shape()).all(|(i, s)| i <= s);
        if !covered || source.dtype() != self.dtype() {
            let message = format!(
                "source {} does not cover index {} in dtype {}",
                source.describe(),
                index.describe(),
                self.dtype()
            );
            return Err(Error::misuse(op, message));
        }
        let mut values = source.clone();
        for (dim, &extent) in index.shape().iter().enumerate() {
            values = values.narrow(dim as isize, 0, extent)?;
        }
        let places = if self.ndim() == 0 { vec![0; index.numel()] } else { self.places(op, at, index)? };
        let mut y = self.detach();
        y.write_places(&places, &values, write)?;
        Ok(record(op, &[self, &values], y, |_| {
            let shape = index.shape().to_vec();
            move |g: Self, sink| {
                if sink.wants(1) {
                    sink.add(1, g.read_places(&places, &shape)?)?;
                }
                if sink.wants(0) {
                    let mut own = g;
                    if write == Write::Replace {
                        let zeros = Self::zeros(&shape, own.dtype())?;
                        own.write_places(&places, &zeros, Write::Replace)?;
                    }
                    sink.add(0, own)?;
                }
                Ok(())
            }
        }))
    }

    /// Whole slices of a dim in the order of a rank-1 index.
    pub fn index_select(&self, dim: isize, index: &Self) -> Result<Self> {
        if index.ndim() > 1 {
            return Err(Error::misuse("index_select", format!("the index is {}, expected rank 1", index.describe())));
        }
        let at = normalize_dim("index_select", dim, self.ndim())?;
        let source = if self.ndim() == 0 { self.reshape_to(vec![1])? } else { self.clone() };
        let rows = positions("index_select", index, source.shape()[at], false)?;
        let mut shape = source.shape().to_vec();
        shape[at] = rows.len();
        source.take_rows("index_select", at, rows, shape)?.reshape_to(if self.ndim() == 0 {
            Vec::new()
        } else {
            let mut shape = self.shape().to_vec();
            shape[at] = index.numel();
            shape
        })
    }

    /// Rows of a `[rows, width]` table, one per index; gradients of row `padding_idx` are dropped.
    pub fn embedding(index: &Self, weight: &Self, padding_idx: Option<i64>) -> Result<Self> {
        let &[rows, width] = weight.shape() else {
            return Err(Error::misuse("embedding", format!("weight is {}, expected [rows, width]", weight.describe())));
        };
        let chosen = positions("embedding", index, rows, false)?;
        let table = match padding_idx {
            None => weight.clone(),
            Some(padding) => {
                let padding = Self::full(&[1], padding, Some(DType::I64))?;
                let row = positions("embedding", &padding, rows, true)?[0] as i64;
                let frozen = Self::arange(0i64, rows as i64, 1i64, None)?.eq(row)?.unsqueeze(1)?;
                Self::select_where(&frozen, weight.detach(), weight)?
            }
        };
        let shape = [index.shape(), &[width]].concat();
        table.take_rows("embedding", 0, chosen, shape)
    }

    /// Slices of `dim` in order; `shape` is what the result is called.
    fn take_rows(&self, op: &'static str, dim: usize, rows: Vec<usize>, shape: Vec<usize>) -> Result<Self> {
        let [outer, extent, inner] = split_at_dim(self.shape(), dim);
        let size = self.dtype().size();
        let mut storage = crate::truth::storage::Storage::scratch(op, self.dtype(), &shape)?;
        let width = inner * size;
        let (source, target) = (self.as_bytes(), storage.bytes_mut());
        for at in 0..outer {
            for (nth, &row) in rows.iter().enumerate() {
                let to = (at * rows.len() + nth) * width;
                target[to..to + width].copy_from_slice(&source[(at * extent + row) * width..][..width]);
            }
        }
        let y = Self::new(storage, shape);
        Ok(record(op, &[self], y, |_| {
            move |g: Self, sink| sink.add_part(0, |full| full.add_rows([outer, extent, inner], &rows, &g, 1.0))
        }))
    }

    /// A copy with `alpha * source`'s slices added at a rank-1 index of `dim`, in order.
    pub fn index_add(&self, dim: isize, index: &Self, source: &Self, alpha: f64) -> Result<Self> {
        let at = normalize_dim("index_add", dim, self.ndim())?;
        let mut expected = self.shape().to_vec();
        if let Some(extent) = expected.get_mut(at) {
            *extent = index.numel();
        }
        if self.ndim() == 0 || index.ndim() > 1 || source.shape() != expected || source.dtype() != self.dtype() {
            let message = format!(
                "source is {}, expected {}{expected:?} and an index of rank 1",
                source.describe(),
                self.dtype()
            );
            return Err(Error::misuse("index_add", message));
        }
        let rows = positions("index_add", index, self.shape()[at], false)?;
        let extents = split_at_dim(self.shape(), at);
        let mut y = self.detach();
        y.add_rows(extents, &rows, source, alpha)?;
        Ok(record("index_add", &[self, source], y, |_| {
            move |g: Self, sink| {
                if sink.wants(1) {
                    let mut shape = g.shape().to_vec();
                    shape[at] = rows.len();
                    sink.add(1, g.take_rows("index_add", at, rows, shape)?.mul(alpha)?)?;
                }
                sink.add(0, g)
            }
        }))
    }

    fn check_index_shape(&self, op: &'static str, dim: usize, index: &Self) -> Result<()> {
        let fits = self.ndim() == index.ndim()
            && (0..self.ndim()).all(|at| at == dim || index.shape()[at] <= self.shape()[at]);
        if fits {
            return Ok(());
        }
        let message = format!(
            "index {} does not fit {} (same rank, extents within it except dim {dim})",
            index.describe(),
            self.describe()
        );
        Err(Error::misuse(op, message))
    }

    /// Flat offset in `self` that each element of `index` points to along `dim`.
    fn places(&self, op: &'static str, dim: usize, index: &Self) -> Result<Vec<usize>> {
        let mut places = positions(op, index, self.shape()[dim], false)?;
        let strides = crate::truth::kernel::row_major(self.shape());
        for (at, place) in places.iter_mut().enumerate() {
            let (mut rest, mut offset) = (at, *place * strides[dim] as usize);
            for (axis, &extent) in index.shape().iter().enumerate().rev() {
                if axis != dim {
                    offset += rest % extent * strides[axis] as usize;
                }
                rest /= extent;
            }
            *place = offset;
        }
        Ok(places)
    }

    fn read_places(&self, places: &[usize], shape: &[usize]) -> Result<Self> {
        with_width!(self.dtype(), T => {
            let x = self.raw::<T>();
            fill::<T>("gather", self.dtype(), shape, &|start, out| {
                out.iter_mut().zip(&places[start..]).for_each(|(out, &place)| *out = x[place]);
            })
        })
    }

    fn write_places(&mut self, places: &[usize], values: &Self, write: Write) -> Result<()> {
        with_element!(self.dtype(), T => {
            let source = values.slice::<T>();
            let target = self.make_mut()?.slice_mut::<T>();
            for (&place, &value) in places.iter().zip(source) {
                target[place] = match write {
                    Write::Replace => value,
                    Write::Add => T::store(target[place].load().plus(value.load())),
                };
            }
        });
        Ok(())
    }

    /// Adds `alpha * source[outer, rows.len(), inner]` to the given rows of `self[outer, extent, inner]`, in order.
    fn add_rows(
        &mut self,
        [outer, extent, inner]: [usize; 3],
        rows: &[usize],
        source: &Self,
        alpha: f64,
    ) -> Result<()> {
        let scaled = if alpha == 1.0 { source.detach() } else { source.detach().mul(alpha)?.to_dtype(self.dtype())? };
        with_element!(self.dtype(), T => {
            let source = scaled.slice::<T>();
            let target = self.make_mut()?.slice_mut::<T>();
            for at in 0..outer {
                for (nth, &row) in rows.iter().enumerate() {
                    let from = &source[(at * rows.len() + nth) * inner..][..inner];
                    let to = &mut target[(at * extent + row) * inner..][..inner];
                    to.iter_mut().zip(from).for_each(|(to, from)| *to = T::store(to.load().plus(from.load())));
                }
            }
        });
        Ok(())
    }
}
