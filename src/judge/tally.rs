//! Grades of several draws, folded into one line per tensor.

use serde::Serialize;

use super::TensorGrade;

/// The worst of a tensor's grades over draws: the first failing one, else the one nearest its bound.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tally {
    /// `out0` or `grad x`.
    pub name: String,
    /// Seed of the draw that `worst` belongs to.
    pub seed: u64,
    pub draws: u32,
    pub failed: u32,
    #[serde(flatten)]
    pub worst: TensorGrade,
}

impl Tally {
    pub fn new(name: &str, seed: u64, grade: TensorGrade) -> Self {
        Self { name: name.to_owned(), seed, draws: 1, failed: u32::from(!grade.passed()), worst: grade }
    }

    /// Adds another draw's grade of the same tensor.
    pub fn add(&mut self, seed: u64, grade: TensorGrade) {
        self.draws += 1;
        self.failed += u32::from(!grade.passed());
        let worse = match (self.worst.passed(), grade.passed()) {
            (true, false) => true,
            (true, true) => use_of_bound(&grade) > use_of_bound(&self.worst),
            (false, _) => false,
        };
        if worse {
            self.seed = seed;
            self.worst = grade;
        }
    }

    pub fn passed(&self) -> bool {
        self.failed == 0
    }
}

fn use_of_bound(grade: &TensorGrade) -> f64 {
    if grade.max_bound > 0.0 { grade.max_err / grade.max_bound } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{Tolerance, grade};
    use crate::model::DType;

    fn graded(value: f64) -> TensorGrade {
        grade(&[value], &[1.0], &[1.0], &[1.0], Tolerance::default_for(DType::F32), false)
    }

    #[test]
    fn the_first_failure_stays_and_failures_are_counted() {
        let mut tally = Tally::new("out0", 0, graded(1.0));
        tally.add(1, graded(1.00001));
        assert_eq!((tally.seed, tally.passed()), (1, true));
        tally.add(2, graded(3.0));
        tally.add(3, graded(9.0));
        assert_eq!((tally.seed, tally.failed, tally.draws, tally.passed()), (2, 2, 4, false));
    }
}
