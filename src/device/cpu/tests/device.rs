//! Memory, graphs and limits.

use std::io::Write;
use std::os::fd::AsFd;

use half::{bf16, f16};

use super::{Bench, buffer, compile, float, int};
use crate::device::{Access, BoundArg, BoundNode, BufferId, Device, DeviceErrorKind, ModuleId, Shared, Step};
use crate::model::{DType, ScalarValue};

fn launch(module: ModuleId, grid: [u32; 3], block: [u32; 3], shared_bytes: u32, args: Vec<BoundArg>) -> BoundNode {
    BoundNode::Launch { module, kernel: 0, grid, block, shared_bytes, args }
}

#[test]
fn launch_limits_are_cudas() {
    let mut bench = Bench::new();
    let module = bench.device.load(&compile("saxpy.cu", &["saxpy"])).unwrap();
    let x = bench.upload("x", &[0f32; 4]);
    let args = vec![buffer(x), buffer(x), float(1.0), int(0)];
    for (grid, block, shared, part) in [
        ([0, 1, 1], [1, 1, 1], 0, "grid.x is 0; the limits are 1 to 2147483647"),
        ([1, 65_536, 1], [1, 1, 1], 0, "grid.y is 65536"),
        ([1, 1, 65_536], [1, 1, 1], 0, "grid.z is 65536"),
        ([1 << 31, 1, 1], [1, 1, 1], 0, "grid.x is 2147483648"),
        ([1, 1, 1], [1025, 1, 1], 0, "block.x is 1025"),
        ([1, 1, 1], [1, 1, 65], 0, "block.z is 65"),
        ([1, 1, 1], [64, 32, 1], 0, "a block of 2048 threads is over the limit of 1024"),
        ([1, 1, 1], [0, 1, 1], 0, "block.x is 0"),
        ([1, 1, 1], [1, 1, 1], 232_449, "232449 bytes of dynamic shared memory are over the limit of 232448"),
    ] {
        let error = bench.device.record(&[launch(module, grid, block, shared, args.clone())]).unwrap_err();
        assert_eq!(error.kind, DeviceErrorKind::Launch);
        assert!(error.message.contains("kernel 'saxpy'") && error.message.contains(part), "{error}");
    }
    for (args, part) in [
        (vec![buffer(x)], "takes 4 arguments, 1 were given"),
        (vec![int(1), buffer(x), float(1.0), int(0)], "argument 1 is a scalar"),
        (vec![buffer(x), buffer(x), buffer(x), int(0)], "argument 3 is a buffer"),
        (vec![buffer(x), buffer(x), BoundArg::Null, int(0)], "argument 3 is null"),
        (vec![buffer(x), BoundArg::Buffer(x, 17), float(1.0), int(0)], "starts at byte 17 of buffer 'x', which has 16"),
        (
            vec![buffer(x), buffer(x), BoundArg::Scalar(ScalarValue::F64Bits(0)), int(0)],
            "argument 3 has 8 bytes, the parameter 4",
        ),
        (vec![buffer(BufferId(99)), buffer(x), float(1.0), int(0)], "no buffer 99"),
    ] {
        let error = bench.device.record(&[launch(module, [1; 3], [1; 3], 0, args)]).unwrap_err();
        assert!(error.message.contains(part), "{error}");
    }
}

#[test]
fn scratch_is_poisoned_and_bounded() {
    let mut bench = Bench::new();
    for bytes in [0u64, 1, 15, 16, 4095, 4096, 4097] {
        let id = bench.device.alloc("s", bytes).unwrap();
        let got: Vec<u8> = bench.read(id);
        assert!(got.len() as u64 == bytes && got.iter().all(|byte| *byte == 0xFF));
        assert_eq!(bench.device.buffer(id).unwrap().start() as usize % 16, 0);
    }
    let error = bench.device.alloc("huge", 1 << 50).unwrap_err();
    assert_eq!(error.kind, DeviceErrorKind::Oom);
    assert!(error.message.contains("'huge' needs 1048576.00 GiB"), "{error}");
    let id = bench.upload("p", &[1u8; 100]);
    bench.device.perform(&[Step::Poison(id), Step::Flush]).unwrap();
    assert!(bench.read::<u8>(id).iter().all(|byte| *byte == 0xFF));
}

#[test]
fn imports_see_the_file() {
    let mut file = tempfile::tempfile().unwrap();
    let bytes: Vec<u8> = (0..8192u32).map(|i| i as u8).collect();
    file.write_all(&bytes).unwrap();
    let mut bench = Bench::new();
    let read = bench.device.import("in", Shared::File(file.as_fd()), 4096 - 48, 48, Access::Read).unwrap();
    let write = bench.device.import("out", Shared::File(file.as_fd()), 8192 - 48, 48, Access::ReadWrite).unwrap();
    let empty = bench.device.import("none", Shared::File(file.as_fd()), 0, 0, Access::Read).unwrap();
    assert_eq!(bench.read::<u8>(read), bytes[4096 - 48..4096]);
    assert!(bench.read::<u8>(empty).is_empty());
    let copy = BoundNode::Copy { src: (read, 16), dst: (write, 0), bytes: 32 };
    let graph = bench.device.record(&[copy]).unwrap();
    bench.run_graph(graph, 1);
    let mut now = [0u8; 32];
    std::os::unix::fs::FileExt::read_exact_at(&file, &mut now, 8192 - 48).unwrap();
    assert_eq!(now, bytes[4096 - 32..4096]);
    let error = bench.device.perform(&[Step::Poison(read)]).unwrap_err();
    assert!(error.message.contains("'in' is read-only"), "{error}");
    for node in [
        BoundNode::Copy { src: (write, 0), dst: (read, 0), bytes: 1 },
        BoundNode::Fill { buffer: read, value: ScalarValue::U8(0) },
        BoundNode::Copy { src: (read, 40), dst: (write, 0), bytes: 16 },
        BoundNode::Copy { src: (read, u64::MAX), dst: (write, 0), bytes: 16 },
    ] {
        assert_eq!(bench.device.record(&[node]).unwrap_err().kind, DeviceErrorKind::Launch);
    }
    assert!(bench.device.import("odd", Shared::File(file.as_fd()), 8, 8, Access::Read).is_err());
}

#[test]
fn fills_of_every_width() {
    for (value, want) in [
        (ScalarValue::Bool(true), vec![1u8; 16]),
        (ScalarValue::F16Bits(0x3c00), [0u8, 0x3c].repeat(8)),
        (ScalarValue::I32(-2), (-2i32).to_le_bytes().repeat(4)),
        (ScalarValue::F64Bits(1.5f64.to_bits()), 1.5f64.to_le_bytes().repeat(2)),
    ] {
        let mut bench = Bench::new();
        let id = bench.upload("f", &[9u8; 16]);
        let graph = bench.device.record(&[BoundNode::Fill { buffer: id, value }]).unwrap();
        bench.run_graph(graph, 2);
        assert_eq!(bench.read::<u8>(id), want);
    }
}

#[test]
fn matrix_products_in_every_layout_and_type() {
    let (m, n, k, batch) = (5usize, 7usize, 9usize, 2usize);
    let value = |i: usize| ((i * 37 % 19) as f64 - 9.0) / 8.0;
    for dtype in [DType::F64, DType::F32, DType::F16, DType::BF16] {
        for (trans_a, trans_b) in [(false, false), (true, false), (false, true), (true, true)] {
            let bytes = |len: usize| -> Vec<u8> {
                (0..len)
                    .flat_map(|i| match dtype {
                        DType::F64 => value(i).to_le_bytes().to_vec(),
                        DType::F32 => (value(i) as f32).to_le_bytes().to_vec(),
                        DType::F16 => f16::from_f64(value(i)).to_le_bytes().to_vec(),
                        _ => bf16::from_f64(value(i)).to_le_bytes().to_vec(),
                    })
                    .collect()
            };
            let mut bench = Bench::new();
            let (a, b) = (bench.upload("a", &bytes(batch * m * k)), bench.upload("b", &bytes(batch * k * n)));
            let out = bench.upload("out", &bytes(batch * m * n));
            let node = BoundNode::Matmul {
                a: (a, 0),
                b: (b, 0),
                out: (out, 0),
                dtype,
                m: m as u64,
                n: n as u64,
                k: k as u64,
                batch: batch as u64,
                trans_a,
                trans_b,
            };
            let graph = bench.device.record(&[node]).unwrap();
            bench.run_graph(graph, 2);
            let raw: Vec<u8> = bench.read(out);
            for (i, chunk) in raw.chunks(dtype.size()).enumerate() {
                let (p, r, c) = (i / (m * n), i / n % m, i % n);
                let at = |l| if trans_a { p * m * k + l * m + r } else { p * m * k + r * k + l };
                let bt = |l| if trans_b { p * k * n + c * k + l } else { p * k * n + l * n + c };
                let want: f64 = (0..k).map(|l| value(at(l)) * value(bt(l))).sum();
                let got = match dtype {
                    DType::F64 => f64::from_le_bytes(chunk.try_into().unwrap()),
                    DType::F32 => f32::from_le_bytes(chunk.try_into().unwrap()).into(),
                    DType::F16 => f16::from_le_bytes(chunk.try_into().unwrap()).to_f64(),
                    _ => bf16::from_le_bytes(chunk.try_into().unwrap()).to_f64(),
                };
                assert!(
                    (got - want).abs() <= 0.01 * want.abs() + 1e-3,
                    "{dtype} {trans_a} {trans_b} [{i}]: {got} {want}"
                );
            }
        }
    }
    let mut bench = Bench::new();
    let a = bench.upload("a", &[1f32; 4]);
    let out = bench.upload("out", &[5f32; 4]);
    let node = |k, m, dtype| BoundNode::Matmul {
        a: (a, 0),
        b: (a, 0),
        out: (out, 0),
        dtype,
        m,
        n: 2,
        k,
        batch: 1,
        trans_a: false,
        trans_b: false,
    };
    let graph = bench.device.record(&[node(0, 2, DType::F32)]).unwrap();
    bench.run_graph(graph, 1);
    assert_eq!(bench.read::<f32>(out), [0.0; 4], "an empty sum is zero");
    assert!(bench.device.record(&[node(u64::MAX / 2, 2, DType::F32)]).is_err());
    assert!(bench.device.record(&[node(2, 3, DType::F32)]).is_err());
    assert!(bench.device.record(&[node(2, 2, DType::I32)]).is_err());
}

#[test]
fn description_names_the_machine() {
    let info = Bench::new().device.describe();
    assert_eq!((info.kind.as_str(), info.compiler.as_str()), ("cpu", "test"));
    assert!(info.name.starts_with("cpu: ") && info.name.ends_with(" threads)") && info.memory_bytes > 1 << 20);
}
