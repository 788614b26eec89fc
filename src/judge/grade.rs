//! Every element of one tensor against truth.

use std::fmt;

use serde::{Serialize, Serializer};

use super::{Class, Tolerance};

/// Where a tensor is worst.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Worst {
    /// Flat row-major index.
    pub index: usize,
    #[serde(serialize_with = "number_or_name")]
    pub value: f64,
    #[serde(serialize_with = "number_or_name")]
    pub truth: f64,
}

/// JSON has no NaN and no infinities: they are written as `"nan"`, `"inf"`, `"-inf"`.
fn number_or_name<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.is_finite() {
        serializer.serialize_f64(*value)
    } else {
        serializer.collect_str(&value.to_string().to_lowercase())
    }
}

/// Why a tensor does not pass.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum Fault {
    /// `count` elements are finite, infinite or NaN where truth is not; the worst names the first.
    Class { count: usize, expected: Class, got: Class },
    /// An integer or boolean tensor differs in `count` places.
    Exact { count: usize },
    /// The largest error is over its bound.
    MaxError,
    /// The root-mean-square error is over its bound.
    RmsError,
    /// The signed mean error is over its bound: a systematic shift.
    Bias,
}

impl Fault {
    /// A stable word for records and scripts.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Class { .. } => "class-mismatch",
            Self::Exact { .. } => "not-exact",
            Self::MaxError => "max-error",
            Self::RmsError => "rms-error",
            Self::Bias => "bias",
        }
    }
}

/// The comparison of one tensor of one draw. Errors and bounds are absolute, in the tensor's own unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TensorGrade {
    pub count: usize,
    pub max_err: f64,
    pub max_bound: f64,
    pub rms_err: f64,
    pub rms_bound: f64,
    pub bias: f64,
    pub bias_bound: f64,
    /// Largest error of the honest evaluation at the case's own precision.
    pub honest_err: f64,
    /// max|truth| over finite elements.
    pub scale: f64,
    pub worst: Option<Worst>,
    pub fault: Option<Fault>,
}

impl TensorGrade {
    pub fn passed(&self) -> bool {
        self.fault.is_none()
    }
}

impl fmt::Display for TensorGrade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(fault) = self.fault else {
            return write!(f, "max error {:.3e} within {:.3e}", self.max_err, self.max_bound);
        };
        match fault {
            Fault::Class { count, expected, got } => {
                write!(f, "{count} of {} elements have the wrong class (first: {got}, not {expected})", self.count)
            }
            Fault::Exact { count } => write!(f, "{count} of {} elements differ", self.count),
            Fault::MaxError => write!(f, "max error {:.3e} over {:.3e}", self.max_err, self.max_bound),
            Fault::RmsError => write!(f, "rms error {:.3e} over {:.3e}", self.rms_err, self.rms_bound),
            Fault::Bias => write!(f, "mean error {:+.3e} over {:.3e}", self.bias, self.bias_bound),
        }
    }
}

/// Sums over the finite elements of an error vector.
#[derive(Default)]
struct Norms {
    max: f64,
    squares: f64,
    sum: f64,
    count: usize,
}

impl Norms {
    fn add(&mut self, error: f64) {
        self.max = self.max.max(error.abs());
        self.squares += error * error;
        self.sum += error;
        self.count += 1;
    }

    fn rms(&self) -> f64 {
        if self.count == 0 { 0.0 } else { (self.squares / self.count as f64).sqrt() }
    }

    fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum / self.count as f64 }
    }
}

/// Compares a candidate's tensor with truth, element by element; no element is exempt.
///
/// `value`: the candidate's tensor. `truth`: the reference in f64. `expected`: truth rounded to the tensor's dtype,
/// which decides each element's class (an f64 above f16's range is an infinity there). `honest`: the reference
/// evaluated at the case's own dtype. All four have the same length. `exact`: integers and booleans.
pub fn grade(
    value: &[f64],
    truth: &[f64],
    expected: &[f64],
    honest: &[f64],
    tolerance: Tolerance,
    exact: bool,
) -> TensorGrade {
    assert!(
        value.len() == truth.len() && truth.len() == expected.len() && truth.len() == honest.len(),
        "graded tensors have different lengths: {} {} {} {}",
        value.len(),
        truth.len(),
        expected.len(),
        honest.len()
    );
    let (mut error, mut honest_error, mut size) = (Norms::default(), Norms::default(), Norms::default());
    let mut worst: Option<Worst> = None;
    let mut first_class: Option<(Worst, Class, Class)> = None;
    let (mut class_faults, mut exact_faults) = (0, 0);
    for index in 0..value.len() {
        let (got, want) = (value[index], truth[index]);
        let (got_class, want_class) = (Class::of(got), Class::of(expected[index]));
        if got_class != want_class {
            class_faults += 1;
            first_class.get_or_insert((Worst { index, value: got, truth: want }, want_class, got_class));
            continue;
        }
        if want_class != Class::Finite || !want.is_finite() {
            continue;
        }
        let difference = got - want;
        if exact && difference != 0.0 {
            exact_faults += 1;
        }
        if worst.is_none() || difference.abs() > error.max {
            worst = Some(Worst { index, value: got, truth: want });
        }
        error.add(difference);
        size.add(want);
        if honest[index].is_finite() {
            honest_error.add(honest[index] - want);
        }
    }

    let max_bound = if exact { 0.0 } else { tolerance.bound(honest_error.max, size.max) };
    let rms_bound = if exact { 0.0 } else { tolerance.bound(honest_error.rms(), size.rms()) };
    // Rounding errors of either sign average out as 1/sqrt(n); a quarter of the rms bound is left for long tensors,
    // where an honest kernel may round in one direction more often than the reference does.
    let share = (4.0 / (error.count.max(1) as f64).sqrt()).clamp(0.25, 1.0);
    let bias_bound = (rms_bound * share).max(tolerance.honest_factor * honest_error.mean().abs()).min(rms_bound);

    let fault = if let Some((_, expected, got)) = first_class {
        Some(Fault::Class { count: class_faults, expected, got })
    } else if exact_faults > 0 {
        Some(Fault::Exact { count: exact_faults })
    } else if error.max > max_bound {
        Some(Fault::MaxError)
    } else if error.rms() > rms_bound {
        Some(Fault::RmsError)
    } else if error.mean().abs() > bias_bound {
        Some(Fault::Bias)
    } else {
        None
    };
    TensorGrade {
        count: value.len(),
        max_err: error.max,
        max_bound,
        rms_err: error.rms(),
        rms_bound,
        bias: error.mean(),
        bias_bound,
        honest_err: honest_error.max,
        scale: size.max,
        worst: first_class.map(|(place, ..)| place).or(worst),
        fault,
    }
}

#[cfg(test)]
#[path = "grade_tests.rs"]
mod tests;
