//! Quantiles by linear interpolation between order statistics (the default of NumPy and R's type 7).

use serde::Serialize;

/// Quantile `q` in 0..=1 of `sorted` (ascending). None for an empty slice.
pub fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = q.clamp(0.0, 1.0) * last as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(last);
    let weight = position - below as f64;
    Some(sorted[below] + (sorted[above] - sorted[below]) * weight)
}

/// Median, 20 % and 80 % quantile, and extremes of a set of times, in the unit of the samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    pub median: f64,
    pub q20: f64,
    pub q80: f64,
    pub min: f64,
    pub max: f64,
    pub count: usize,
}

impl Summary {
    /// None when there are no samples.
    pub fn of(samples: &[f64]) -> Option<Self> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        Some(Self {
            median: quantile(&sorted, 0.5)?,
            q20: quantile(&sorted, 0.2)?,
            q80: quantile(&sorted, 0.8)?,
            min: *sorted.first()?,
            max: *sorted.last()?,
            count: sorted.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate_between_order_statistics() {
        let sorted = [1.0, 2.0, 4.0, 8.0];
        assert_eq!(quantile(&sorted, 0.0), Some(1.0));
        assert_eq!(quantile(&sorted, 0.5), Some(3.0));
        assert_eq!(quantile(&sorted, 1.0), Some(8.0));
        assert!((quantile(&sorted, 0.2).unwrap() - 1.6).abs() < 1e-12);
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn a_summary_does_not_depend_on_order() {
        let summary = Summary::of(&[5.0, 1.0, 3.0]).unwrap();
        assert_eq!((summary.median, summary.min, summary.max, summary.count), (3.0, 1.0, 5.0, 3));
        assert_eq!(Summary::of(&[]), None);
    }
}
