//! Plans that no planner of ours would make.

use super::forward;
use crate::model::{Arg, Node, ScalarValue};
use crate::plan::check_structure;

#[test]
fn tampered_plans_are_refused() {
    let good = forward(
        "mod:kernel('axpy', 'float32'){ grid = 1, block = 1, x, y, 1, 1.0 } gpu.fill(y, 0) gpu.copy(y, x) gpu.matmul(x, y, { trans_b = true })",
    );
    crate::plan::check(&good, &super::forward_only()).unwrap();
    type Tamper = fn(&mut crate::model::Plan);
    let tampered: &[(Tamper, &str)] = &[
        (|plan| plan.buffers[0].shape = vec![u64::MAX, 3], "impossible size"),
        (|plan| plan.buffers[1].role = plan.buffers[0].role.clone(), "two buffers for"),
        (|plan| plan.modules.clear(), "there is no module 0"),
        (|plan| plan.modules[0].kernels.clear(), "there is no kernel 0"),
        (|plan| plan.buffers.truncate(1), "there is no buffer 1"),
        (
            |plan| {
                if let Node::Launch { grid, .. } = &mut plan.forward[0] {
                    grid[1] = 0
                }
            },
            "is impossible",
        ),
        (
            |plan| {
                if let Node::Launch { block, .. } = &mut plan.forward[0] {
                    *block = [1024, 2, 1]
                }
            },
            "is impossible",
        ),
        (
            |plan| {
                if let Node::Launch { args, .. } = &mut plan.forward[0] {
                    args.truncate(3)
                }
            },
            "takes 4 arguments, got 3",
        ),
        (
            |plan| {
                if let Node::Launch { args, .. } = &mut plan.forward[0] {
                    args[2] = Arg::Null
                }
            },
            "argument 3 is Null",
        ),
        (
            |plan| {
                if let Node::Launch { args, .. } = &mut plan.forward[0] {
                    args[2] = Arg::Scalar(ScalarValue::I64(1))
                }
            },
            "argument 3 is Scalar(I64(1))",
        ),
        (
            |plan| {
                let place = crate::model::BufferRef { buffer: 0, byte_offset: 132 };
                if let Node::Launch { args, .. } = &mut plan.forward[0] {
                    args[0] = Arg::Buffer(place)
                }
            },
            "do not lie in 'x'",
        ),
        (
            |plan| {
                if let Node::Fill { buffer, .. } = &mut plan.forward[1] {
                    *buffer = 0
                }
            },
            "'x' is an input",
        ),
        (
            |plan| {
                if let Node::Fill { value, .. } = &mut plan.forward[1] {
                    *value = ScalarValue::Bool(true)
                }
            },
            "is no float32",
        ),
        (
            |plan| {
                if let Node::Copy { bytes, .. } = &mut plan.forward[2] {
                    *bytes = u64::MAX
                }
            },
            "do not lie in",
        ),
        (
            |plan| {
                if let Node::Copy { src, .. } = &mut plan.forward[2] {
                    src.byte_offset = 2
                }
            },
            "do not lie in",
        ),
        (
            |plan| {
                if let Node::Copy { src, dst, .. } = &mut plan.forward[2] {
                    *src = *dst
                }
            },
            "overlaps itself",
        ),
        (
            |plan| {
                if let Node::Matmul { n, .. } = &mut plan.forward[3] {
                    *n = u64::MAX
                }
            },
            "impossible size",
        ),
        (
            |plan| {
                if let Node::Matmul { m, .. } = &mut plan.forward[3] {
                    *m = 5
                }
            },
            "do not lie in",
        ),
        (
            |plan| {
                if let Node::Matmul { out, a, .. } = &mut plan.forward[3] {
                    *out = *a
                }
            },
            "do not lie in|own operand",
        ),
        (
            |plan| {
                if let Node::Matmul { dtype, .. } = &mut plan.forward[3] {
                    *dtype = crate::model::DType::I32
                }
            },
            "a product of int32",
        ),
    ];
    for (index, (tamper, expected)) in tampered.iter().enumerate() {
        let mut plan = good.clone();
        tamper(&mut plan);
        let error = check_structure(&plan).expect_err(&format!("tamper {index}: {expected}"));
        assert!(expected.split('|').any(|expected| error.contains(expected)), "tamper {index}: {error}");
    }
}

#[test]
fn plans_of_another_signature_are_refused() {
    let good = forward("");
    let signature = super::forward_only();
    type Change = fn(&mut crate::model::Signature);
    let changed: &[(Change, &str)] = &[
        (|s| s.outputs[0].shape = vec![4, 9], "is float32 [4, 8], the op has float32 [4, 9]"),
        (|s| s.outputs[0].dtype = crate::model::DType::F16, "the op has float16"),
        (|s| s.outputs.clear(), "which the op does not have"),
        (|s| s.grads = vec!["x".into()], "plan has no buffer for Grad"),
        (|s| s.args.clear(), "which the op does not have"),
    ];
    for (change, expected) in changed {
        let mut other = signature.clone();
        change(&mut other);
        let error = crate::plan::check(&good, &other).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}
