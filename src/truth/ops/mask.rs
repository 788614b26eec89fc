//! Triangular parts of matrices.

use crate::truth::element::with_width;
use crate::truth::error::{Error, Result};
use crate::truth::kernel::fill;
use crate::truth::tape::record;
use crate::truth::tensor::Tensor;

impl Tensor {
    /// The last two dims' elements on and below the diagonal that is `diagonal` above the main one; zero elsewhere.
    pub fn tril(&self, diagonal: isize) -> Result<Self> {
        self.triangle("tril", move |row, column| column - row <= diagonal)
    }

    /// The last two dims' elements on and above the diagonal that is `diagonal` above the main one; zero elsewhere.
    pub fn triu(&self, diagonal: isize) -> Result<Self> {
        self.triangle("triu", move |row, column| column - row >= diagonal)
    }

    fn triangle(
        &self,
        op: &'static str,
        keep: impl Fn(isize, isize) -> bool + Sync + Send + Copy + 'static,
    ) -> Result<Self> {
        let &[.., rows, columns] = self.shape() else {
            return Err(Error::misuse(op, format!("expected at least 2 dims, got {:?}", self.shape())));
        };
        let y = with_width!(self.dtype(), T => {
            // Zero is all zero bits in every dtype.
            let x = self.raw::<T>();
            fill::<T>(op, self.dtype(), self.shape(), &|start, out| {
                for (i, out) in out.iter_mut().enumerate() {
                    let (row, column) = ((start + i) / columns % rows, (start + i) % columns);
                    *out = if keep(row as isize, column as isize) { x[start + i] } else { 0 };
                }
            })?
        });
        Ok(record(op, &[self], y, |_| move |g: Self, sink| sink.add(0, g.triangle(op, keep)?)))
    }
}
