//! Untyped element storage: a budget that refuses what memory cannot hold, and reuse of large blocks.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use bytemuck::Pod;

use super::element::Element;
use super::error::{Error, Result};
use crate::model::DType;

/// Elements of one dtype, row-major, 8-byte aligned. Immutable once shared.
#[derive(Debug)]
pub struct Storage {
    words: Vec<u64>,
    len: usize,
    dtype: DType,
}

/// Bytes of live storages. Process-wide because memory is.
static LIVE: AtomicU64 = AtomicU64::new(0);
static BUDGET: OnceLock<AtomicU64> = OnceLock::new();
/// Freed large blocks, oldest first. A fresh block costs one page fault per 4 KiB, more than an elementwise op on it.
static POOL: Mutex<Vec<Vec<u64>>> = Mutex::new(Vec::new());
const POOL_MIN_WORDS: usize = 1 << 13;
const POOL_MAX_WORDS: usize = 1 << 26;

fn budget() -> &'static AtomicU64 {
    BUDGET.get_or_init(|| {
        let info = rustix::system::sysinfo();
        let total = (info.totalram as u64).saturating_mul(u64::from(info.mem_unit));
        AtomicU64::new(total / 4 * 3)
    })
}

/// Sets how many bytes of tensors may live at once (default: three quarters of the machine's memory). An op whose
/// result would exceed it returns [`Error::Budget`].
pub fn set_memory_budget(bytes: u64) {
    budget().store(bytes, Ordering::Relaxed);
}

/// Bytes of the tensors that are alive in this process.
pub fn memory_in_use() -> u64 {
    LIVE.load(Ordering::Relaxed)
}

impl Storage {
    /// Zero-filled storage for `shape`.
    pub(crate) fn zeroed(op: &'static str, dtype: DType, shape: &[usize]) -> Result<Self> {
        let (len, words) = Self::measure(op, dtype, shape)?;
        Ok(Self { words: vec![0; words], len, dtype })
    }

    /// Storage for `shape` with arbitrary (initialised) content, for ops that write every element.
    pub(crate) fn scratch(op: &'static str, dtype: DType, shape: &[usize]) -> Result<Self> {
        let (len, words) = Self::measure(op, dtype, shape)?;
        let pooled = (words >= POOL_MIN_WORDS).then(|| {
            let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
            let at = pool.iter().rposition(|block| block.len() == words)?;
            Some(pool.remove(at))
        });
        Ok(Self { words: pooled.flatten().unwrap_or_else(|| vec![0; words]), len, dtype })
    }

    /// Checks the budget and counts the bytes as live; gives elements and 8-byte words.
    fn measure(op: &'static str, dtype: DType, shape: &[usize]) -> Result<(usize, usize)> {
        let elements = shape.iter().fold(1u128, |n, &extent| n.saturating_mul(extent as u128));
        let bytes = elements.saturating_mul(dtype.size() as u128).saturating_add(7) / 8 * 8;
        let (live, budget) = (memory_in_use(), budget().load(Ordering::Relaxed));
        if bytes.saturating_add(u128::from(live)) > u128::from(budget) {
            return Err(Error::Budget { op, dtype, shape: shape.to_vec(), bytes, live, budget });
        }
        LIVE.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok((elements as usize, (bytes / 8) as usize))
    }

    pub(crate) fn dtype(&self) -> DType {
        self.dtype
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.len * self.dtype.size()]
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.len * self.dtype.size()]
    }

    /// The elements; `T` must be the dtype's element type.
    pub(crate) fn slice<T: Element>(&self) -> &[T] {
        assert_eq!(T::DTYPE, self.dtype);
        self.raw()
    }

    /// The elements as plain data of their width.
    pub(crate) fn raw<T: Pod>(&self) -> &[T] {
        assert_eq!(size_of::<T>(), self.dtype.size());
        &bytemuck::cast_slice(&self.words)[..self.len]
    }

    pub(crate) fn raw_mut<T: Pod>(&mut self) -> &mut [T] {
        assert_eq!(size_of::<T>(), self.dtype.size());
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.len]
    }

    pub(crate) fn slice_mut<T: Element>(&mut self) -> &mut [T] {
        assert_eq!(T::DTYPE, self.dtype);
        self.raw_mut()
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        LIVE.fetch_sub(self.words.len() as u64 * 8, Ordering::Relaxed);
        if (POOL_MIN_WORDS..=POOL_MAX_WORDS / 2).contains(&self.words.len()) {
            let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
            let mut held = self.words.len() + pool.iter().map(Vec::len).sum::<usize>();
            while held > POOL_MAX_WORDS {
                held -= pool.remove(0).len();
            }
            pool.push(std::mem::take(&mut self.words));
        }
    }
}
