//! Grades of several draws, folded into one line per tensor.

use serde::Serialize;

use super::TensorGrade;

/// The worst of a tensor's grades over draws: the first failing one, else the one nearest its bound.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tally {
    /// `out0` or `grad x`.
    pub name: String,
    pub shape: Vec<usize>,
    /// Seed of the draw that `worst` belongs to.
    pub seed: u64,
    pub draws: u32,
    pub failed: u32,
    #[serde(flatten)]
    pub grade: TensorGrade,
}

impl Tally {
    pub fn new(name: &str, shape: &[usize], seed: u64, grade: TensorGrade) -> Self {
        let failed = u32::from(!grade.passed());
        Self { name: name.to_owned(), shape: shape.to_vec(), seed, draws: 1, failed, grade }
    }

    /// Adds another draw's grade of the same tensor.
    pub fn add(&mut self, seed: u64, grade: TensorGrade) {
        self.draws += 1;
        self.failed += u32::from(!grade.passed());
        let worse = match (self.grade.passed(), grade.passed()) {
            (true, false) => true,
            (true, true) => use_of_bound(&grade) > use_of_bound(&self.grade),
            (false, _) => false,
        };
        if worse {
            self.seed = seed;
            self.grade = grade;
        }
    }

    pub fn passed(&self) -> bool {
        self.failed == 0
    }

    /// What is wrong, where, and with which seed.
    pub fn reason(&self) -> String {
        let mut text = format!("{}: {}", self.name, self.grade);
        if let Some(worst) = self.grade.worst {
            let (index, value, truth) = (unravel(worst.index, &self.shape), worst.value, worst.truth);
            text.push_str(&format!("; at {index:?} got {value:e}, truth {truth:e}"));
        }
        text.push_str(&format!(" (seed {}, {} of {} draws)", self.seed, self.failed, self.draws));
        text
    }
}

/// The multi-dimensional index of flat row-major element `flat`.
fn unravel(mut flat: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (place, &extent) in index.iter_mut().zip(shape).rev() {
        *place = flat % extent.max(1);
        flat /= extent.max(1);
    }
    index
}

fn use_of_bound(grade: &TensorGrade) -> f64 {
    if grade.max_bound > 0.0 { grade.max_err / grade.max_bound } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{Tolerance, grade};

    fn graded(value: f64) -> TensorGrade {
        grade(&[value], &[1.0], &[1.0], &[1.0], Tolerance { honest_factor: 2.0, floor: 2e-5 }, false)
    }

    #[test]
    fn the_first_failure_stays_and_failures_are_counted() {
        let mut tally = Tally::new("out0", &[1], 0, graded(1.0));
        tally.add(1, graded(1.00001));
        assert_eq!((tally.seed, tally.passed()), (1, true));
        tally.add(2, graded(3.0));
        tally.add(3, graded(9.0));
        assert_eq!((tally.seed, tally.failed, tally.draws, tally.passed()), (2, 2, 4, false));
        assert!(tally.reason().ends_with("at [0] got 3e0, truth 1e0 (seed 2, 2 of 4 draws)"), "{}", tally.reason());
    }

    #[test]
    fn flat_indices_become_coordinates() {
        assert_eq!(unravel(70, &[4, 33]), [2, 4]);
        assert_eq!(unravel(0, &[]), [0_usize; 0]);
    }
}
