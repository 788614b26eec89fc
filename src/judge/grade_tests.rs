use super::*;

const F32: Tolerance = Tolerance { honest_factor: 2.0, floor: 2e-5 };
const F16: Tolerance = Tolerance { honest_factor: 2.0, floor: 1e-3 };
const BF16: Tolerance = Tolerance { honest_factor: 2.0, floor: 2e-2 };

/// A wavy tensor, and the same rounded to bf16 as an honest evaluation would leave it.
fn wave(n: usize) -> (Vec<f64>, Vec<f64>) {
    let truth: Vec<f64> = (0..n).map(|i| (i as f64 * 0.37 + 0.1).sin() * 1.5).collect();
    let honest = truth.iter().map(|&v| half::bf16::from_f64(v).to_f64()).collect();
    (truth, honest)
}

fn bf16_grade(value: &[f64], truth: &[f64], honest: &[f64]) -> TensorGrade {
    grade(value, truth, truth, honest, BF16, false)
}

#[test]
fn an_honest_answer_passes_and_reports_its_error() {
    let (truth, honest) = wave(1000);
    let result = bf16_grade(&honest, &truth, &honest);
    assert!(result.passed(), "{result}");
    assert_eq!(result.max_err, result.honest_err);
    assert!(result.max_err > 0.0 && result.scale > 1.4);
}

/// Each of these must fail at every size, also where the tensor's magnitude is far below 1.
#[test]
fn trivially_wrong_answers_fail_at_every_scale() {
    for n in [1, 2, 17, 1000] {
        for magnitude in [1e-6, 1.0, 1e4] {
            let (truth, honest) = wave(n);
            let truth: Vec<f64> = truth.iter().map(|v| v * magnitude).collect();
            let honest: Vec<f64> = honest.iter().map(|v| v * magnitude).collect();
            let mean = truth.iter().sum::<f64>() / n as f64;
            let mut last_dropped = honest.clone();
            last_dropped[n - 1] = 0.0;
            let wrong: [(&str, Vec<f64>); 5] = [
                ("zeros", vec![0.0; n]),
                ("negated", truth.iter().map(|v| -v).collect()),
                ("doubled", truth.iter().map(|v| v * 2.0).collect()),
                ("constant mean", vec![if n == 1 { mean * 1.1 } else { mean }; n]),
                ("last dropped", last_dropped),
            ];
            for (name, value) in wrong {
                assert!(!bf16_grade(&value, &truth, &honest).passed(), "{name} passes at n={n}, magnitude {magnitude}");
            }
        }
    }
}

#[test]
fn every_class_must_match_at_its_index() {
    let special = [0.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    let tolerance = F32;
    assert!(grade(&special, &special, &special, &special, tolerance, false).passed());
    for i in 0..special.len() {
        for other in special {
            let mut value = special;
            value[i] = other;
            let result = grade(&value, &special, &special, &special, tolerance, false);
            assert_eq!(result.passed(), Class::of(other) == Class::of(special[i]), "element {i} as {other}");
        }
    }
}

#[test]
fn an_overflow_of_the_output_type_is_an_infinity_there() {
    let (truth, expected) = ([70000.0], [f64::INFINITY]);
    let tolerance = F16;
    assert!(grade(&[f64::INFINITY], &truth, &expected, &expected, tolerance, false).passed());
    assert!(!grade(&[65504.0], &truth, &expected, &expected, tolerance, false).passed());
}

#[test]
fn integers_are_exact() {
    let truth = [1.0, 2.0, 3.0];
    let tolerance = F32;
    assert!(grade(&truth, &truth, &truth, &truth, tolerance, true).passed());
    let result = grade(&[1.0, 2.0, 4.0], &truth, &truth, &truth, tolerance, true);
    assert_eq!(result.fault, Some(Fault::Exact { count: 1 }));
    assert_eq!(result.worst.unwrap().index, 2);
}

#[test]
fn a_zero_truth_asks_for_zero() {
    let tolerance = BF16;
    assert!(grade(&[0.0; 4], &[0.0; 4], &[0.0; 4], &[0.0; 4], tolerance, false).passed());
    assert!(!grade(&[0.0, 1e-30, 0.0, 0.0], &[0.0; 4], &[0.0; 4], &[0.0; 4], tolerance, false).passed());
}

#[test]
fn a_useless_honest_error_does_not_open_the_gate() {
    let (truth, _) = wave(100);
    let honest: Vec<f64> = truth.iter().map(|v| -v).collect();
    assert!(!bf16_grade(&vec![0.0; 100], &truth, &honest).passed());
    assert!(!bf16_grade(&honest, &truth, &honest).passed());
    assert!(bf16_grade(&truth, &truth, &honest).passed());
}

#[test]
fn a_systematic_shift_inside_the_max_bound_fails() {
    let (truth, honest) = wave(10_000);
    let shifted: Vec<f64> = truth.iter().map(|v| v + 0.012).collect();
    let result = bf16_grade(&shifted, &truth, &honest);
    assert!(result.max_err <= result.max_bound);
    assert!(matches!(result.fault, Some(Fault::Bias | Fault::RmsError)), "{result}");
}

#[test]
fn an_empty_tensor_passes() {
    assert!(bf16_grade(&[], &[], &[]).passed());
}
