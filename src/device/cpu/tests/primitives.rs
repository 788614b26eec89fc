//! Each primitive family against its definition.

use super::{Bench, buffer, compile, int};
use crate::device::{BoundArg, BoundNode, Device};
use crate::model::{DType, ParamKind, ScalarValue};

/// Definition of the shuffles: source lane of `lane` in a group of `width`.
fn source(kind: usize, lane: i32, param: i32, width: i32) -> i32 {
    let base = lane / width * width;
    let from = match kind {
        0 => base + param % width,
        1 => lane - param,
        2 => lane + param,
        _ => lane ^ param,
    };
    if from < base || from >= base + width { lane } else { from }
}

#[test]
fn shuffles_with_widths_and_partial_warps() {
    let module = compile("warp.cu", &["shuffles"]);
    let calls = [(0, 3, 32), (1, 2, 32), (2, 1, 32), (3, 1, 32), (0, 11, 8), (1, 3, 16), (2, 5, 8), (3, 4, 8)];
    for block in [[1u32, 1, 1], [31, 1, 1], [32, 1, 1], [33, 1, 1], [7, 5, 3], [16, 2, 4], [1024, 1, 1]] {
        let n = block.iter().product::<u32>() as i32;
        let mut bench = Bench::new();
        let out = bench.upload("out", &vec![-1i32; n as usize * 8]);
        bench.launch(&module, 0, [1, 1, 1], block, 0, vec![buffer(out), int(n)]);
        let got: Vec<i32> = bench.read(out);
        for t in 0..n {
            let (lane, warp) = (t % 32, t / 32 * 32);
            for (i, (kind, param, width)) in calls.into_iter().enumerate() {
                let from = warp + source(kind, lane, param, width);
                // A source lane that does not exist leaves the value undefined.
                if from < n {
                    assert_eq!(got[t as usize * 8 + i], from, "block {block:?} thread {t} call {i}");
                }
            }
        }
    }
}

#[test]
fn half_warps_go_their_own_ways() {
    let module = compile("warp.cu", &["halves"]);
    let mut bench = Bench::new();
    let out = bench.upload("out", &[0i32; 96]);
    let got: Vec<i32> = bench.run(&module, 0, 1, 96, vec![buffer(out)]);
    for (t, got) in got.into_iter().enumerate() {
        let lane = t as i32 % 32;
        let want = if lane < 16 { (lane ^ 1) * 10 + 16 } else { (lane + 1).min(31) * 10 + 0xaa_0000 };
        assert_eq!(got, want, "thread {t}");
    }
}

#[test]
fn votes_matches_reductions_and_counting_barriers() {
    let module = compile("warp.cu", &["votes"]);
    let n = 128i32;
    let mut bench = Bench::new();
    let out = bench.upload("out", &vec![0i32; n as usize * 16]);
    bench.launch(&module, 0, [1, 1, 1], [n as u32, 1, 1], 0, vec![buffer(out), int(n)]);
    let got: Vec<i32> = bench.read(out);
    for t in 0..n {
        let (lane, warp) = (t % 32, t / 32 * 32);
        let mask = |test: &dyn Fn(i32) -> bool| (0..32).filter(|l| test(*l)).fold(0u32, |m, l| m | 1 << l) as i32;
        let odd = if t % 2 == 1 { mask(&|l| (warp + l) % 2 == 1) } else { 0 };
        let want = [
            mask(&|l| (warp + l) % 3 == 0),
            i32::from(warp == 0),
            i32::from(warp < 64),
            mask(&|l| l / 5 == lane / 5),
            -1,
            1,
            0,
            (0..32).map(|l| warp + l).sum(),
            -(warp + 31),
            (0..32).map(|l| (-(warp + l)) as u32).max().unwrap() as i32,
            (0..32).map(|l| warp + l).fold(0, |a, b| a ^ b),
            n / 2,
            1,
            odd,
            lane ^ 31,
            lane ^ 5,
        ];
        assert_eq!(got[t as usize * 16..][..16], want, "thread {t}");
    }
}

#[test]
fn threads_that_left_do_not_hold_a_barrier() {
    let module = compile("warp.cu", &["leavers"]);
    for n in [1usize, 31, 33, 200, 256] {
        let x: Vec<f32> = (0..256).map(|i| i as f32).collect();
        let mut bench = Bench::new();
        let (bx, by) = (bench.upload("in", &x), bench.upload("out", &[0f32; 256]));
        bench.launch(&module, 0, [1, 1, 1], [256, 1, 1], 0, vec![buffer(bx), buffer(by), int(n as i32)]);
        assert!(bench.read::<f32>(by)[..n].iter().enumerate().all(|(i, v)| *v == (n - 1 - i) as f32), "n = {n}");
    }
}

#[test]
fn locks_and_the_last_block() {
    let module = compile("warp.cu", &["spin_lock", "handover"]);
    let mut bench = Bench::new();
    let (counter, last) = (bench.upload("counter", &[0i32]), bench.upload("last", &[0i32]));
    bench.launch(&module, 0, [8, 1, 1], [64, 1, 1], 0, vec![buffer(counter), buffer(last)]);
    assert_eq!((bench.read::<i32>(counter)[0], bench.read::<i32>(last)[0]), (512, 512));
    let (flag, out) = (bench.upload("flag", &[0u32]), bench.upload("out", &[0i32]));
    bench.launch(&module, 1, [1, 1, 1], [64, 1, 1], 0, vec![buffer(flag), buffer(out)]);
    assert_eq!(bench.read::<i32>(out)[0], 7);
}

#[test]
fn three_dimensional_grids_and_blocks() {
    let module = compile("warp.cu", &["indices"]);
    for (grid, block) in [([1, 1, 1], [1, 1, 1]), ([3, 2, 5], [4, 3, 2]), ([1, 70, 3], [5, 1, 7])] {
        let threads = block.iter().product::<u32>() as usize;
        let blocks = grid.iter().product::<u32>() as usize;
        let mut bench = Bench::new();
        let out = bench.upload("out", &vec![0i32; threads * blocks]);
        bench.launch(&module, 0, grid, block, 0, vec![buffer(out)]);
        let got: Vec<i32> = bench.read(out);
        assert!(got.iter().enumerate().all(|(i, v)| *v == (i / threads * 1000 + i % threads + 1) as i32));
    }
}

#[test]
fn templates_static_and_dynamic_shared_memory_together() {
    let module = compile("warp.cu", &["reverse<double, 96>", "reverse<int,32>", "all_shared"]);
    let mut bench = Bench::new();
    let x: Vec<f64> = (0..96).map(f64::from).collect();
    let (bx, by) = (bench.upload("in", &x), bench.upload("out", &[0f64; 96]));
    bench.launch(&module, 0, [1, 1, 1], [96, 1, 1], 96 * 8, vec![buffer(bx), buffer(by)]);
    assert!(bench.read::<f64>(by).iter().rev().zip(&x).all(|(a, b)| a == b));
    let sum = bench.upload("sum", &[0i32]);
    bench.launch(&module, 2, [1, 1, 1], [64, 1, 1], 232_448, vec![buffer(sum), int(232_448 / 4)]);
    assert_eq!(bench.read::<i32>(sum)[0], 232_448 / 4);
}

#[test]
fn parameters_are_described_and_passed() {
    let module = compile("warp.cu", &["parameters<float>", "by_value"]);
    let params = &module.kernels[0].params;
    let pointer = |element, is_const| ParamKind::Pointer { element, is_const };
    let want = [
        (8, pointer(Some(DType::F32), true)),
        (8, pointer(None, false)),
        (8, pointer(None, false)),
        (8, pointer(Some(DType::F32), true)),
        (8, ParamKind::Int { signed: true }),
        (2, ParamKind::Int { signed: false }),
        (1, ParamKind::Bool),
        (8, ParamKind::Float),
        (1, ParamKind::Int { signed: false }),
        (56, ParamKind::Struct),
        (1, ParamKind::Int { signed: true }),
    ];
    assert_eq!(params.iter().map(|p| (p.size, p.kind)).collect::<Vec<_>>(), want);
}

#[test]
fn scalars_of_every_width_arrive() {
    let source = "template <class T> __global__ void store(T* out, T v, char pad, T w) { out[0] = v; out[1] = w; }";
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("store.cu");
    std::fs::write(&file, source).unwrap();
    let kernels = [
        "store<signed char>",
        "store<unsigned short>",
        "store<int>",
        "store<long long>",
        "store<double>",
        "store<bool>",
    ];
    let module = super::compile_in(&super::cache_dir(), &file, &kernels, &[]).unwrap();
    let scalars = [
        ScalarValue::I8(-3),
        ScalarValue::U16(65_000),
        ScalarValue::I32(-7),
        ScalarValue::I64(i64::MIN + 5),
        ScalarValue::F64Bits(2.5f64.to_bits()),
        ScalarValue::Bool(true),
    ];
    let bytes: [&[u8]; 6] = [
        &(-3i8).to_le_bytes(),
        &65_000u16.to_le_bytes(),
        &(-7i32).to_le_bytes(),
        &(i64::MIN + 5).to_le_bytes(),
        &2.5f64.to_le_bytes(),
        &[1],
    ];
    for (index, (scalar, bytes)) in scalars.into_iter().zip(bytes).enumerate() {
        let mut bench = Bench::new();
        let out = bench.upload("out", &[0u8; 16]);
        let arg = BoundArg::Scalar(scalar);
        let pad = BoundArg::Scalar(ScalarValue::I8(0));
        bench.launch(&module, index as u32, [1, 1, 1], [1, 1, 1], 0, vec![buffer(out), arg, pad, arg]);
        assert_eq!(bench.read::<u8>(out)[..2 * bytes.len()], [bytes, bytes].concat());
    }
}

#[test]
fn atomics_of_every_kind() {
    let module = compile("warp.cu", &["atomics"]);
    let mut bench = Bench::new();
    let i = bench.upload("i", &[0i32, 0, 0, -1]);
    let u = bench.upload("u", &[0u32, !0, 0, 0, 0, 0]);
    let l = bench.upload("l", &[0u64, 0]);
    let f = bench.upload("f", &[0f32, 0.0]);
    let d = bench.upload("d", &[0f64]);
    let n = 8 * 100;
    bench.launch(&module, 0, [8, 1, 1], [100, 1, 1], 0, [i, u, l, f, d].map(buffer).to_vec());
    assert_eq!(bench.read::<i32>(i), [n, -2 * n, -(n - 1), n - 1]);
    assert_eq!(
        bench.read::<u32>(u),
        [!0, 0, !0, n as u32 % 10, (0..n).fold(0, |v, _| if v == 0 { 9 } else { v - 1 }), 799]
    );
    assert_eq!(bench.read::<u64>(l), [(n as u64) << 33, 799 << 32]);
    assert_eq!(bench.read::<f32>(f), [n as f32 / 2.0, 3.0]);
    assert_eq!(bench.read::<f64>(d), [f64::from(n) / 4.0]);
}

#[test]
fn cooperative_groups_tiles() {
    let module = compile("groups.cu", &["tiles"]);
    let n = 40usize;
    let x: Vec<i32> = (0..n as i32).map(|i| i * 7 % 11).collect();
    let mut bench = Bench::new();
    let (bx, by) = (bench.upload("in", &x), bench.upload("out", &vec![0i32; n * 6]));
    let got: Vec<i32> = bench.run(&module, 0, 1, n as u32, vec![buffer(bx), buffer(by)]);
    for t in 0..n {
        let tile = &x[t / 8 * 8..][..8];
        let ballot = tile.iter().enumerate().fold(0, |m, (l, v)| m | (v & 1) << l);
        let want = [
            tile.iter().sum(),
            *tile.iter().max().unwrap(),
            tile[2],
            (t % 8 + 100 * (t / 8)) as i32,
            ballot,
            i32::from(t / 8 == 1) + 2 * i32::from(t < 16),
        ];
        assert_eq!(got[t * 6..][..6], want, "thread {t}");
    }
}

#[test]
fn device_globals_keep_their_values_between_launches() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("counter.cu");
    std::fs::write(&file, "__device__ int total = 5;\nextern \"C\" __global__ void count(int* out, int by) { total += by; *out = total; }\n").unwrap();
    let module = super::compile_in(&super::cache_dir(), &file, &["count"], &[]).unwrap();
    let mut bench = Bench::new();
    let out = bench.upload("out", &[0i32]);
    let loaded = bench.device.load(&module).unwrap();
    let node = BoundNode::Launch {
        module: loaded,
        kernel: 0,
        grid: [1; 3],
        block: [1; 3],
        shared_bytes: 0,
        args: vec![buffer(out), int(2)],
    };
    let graph = bench.device.record(&[node]).unwrap();
    bench.run_graph(graph, 3);
    assert_eq!(bench.read::<i32>(out)[0], 11);
}

#[test]
fn integer_and_float_intrinsics() {
    let module = compile("intrinsics.cu", &["integers", "floats"]);
    let pairs =
        [(0i32, 0i32), (1, -1), (-1, 12_345), (i32::MIN, 3), (0x1234_5678, 0x0bad_cafe_u32 as i32), (255, i32::MAX)];
    let (a, b): (Vec<i32>, Vec<i32>) = pairs.into_iter().unzip();
    let mut bench = Bench::new();
    let (ba, bb, bo) =
        (bench.upload("a", &a), bench.upload("b", &b), bench.upload("out", &vec![0i32; pairs.len() * 13]));
    bench.launch(&module, 0, [1; 3], [32, 1, 1], 0, vec![buffer(ba), buffer(bb), buffer(bo), int(pairs.len() as i32)]);
    let got: Vec<i32> = bench.read(bo);
    for (i, (x, y)) in pairs.into_iter().enumerate() {
        let (ux, uy) = (x as u32, y as u32);
        let dot: i32 =
            x.to_le_bytes().iter().zip(y.to_le_bytes()).map(|(p, q)| i32::from(*p as i8) * i32::from(q as i8)).sum();
        let (xb, yb) = (ux.to_le_bytes(), uy.to_le_bytes());
        let want = [
            ux.count_ones() as i32,
            ux.leading_zeros() as i32,
            ux.reverse_bits() as i32,
            if x == 0 { 0 } else { ux.trailing_zeros() as i32 + 1 },
            ((u64::from(ux) * u64::from(uy)) >> 32) as i32,
            ((i64::from(x) * i64::from(y)) >> 32) as i32,
            dot + 3,
            i32::from_le_bytes([xb[0], yb[0], xb[1], yb[1]]),
            ((u64::from(uy) << 32 | u64::from(ux)) << 5 >> 32) as i32,
            x.min(y) ^ x.max(y),
            (ux.count_ones() + uy.count_ones()) as i32,
            i64::from(x).leading_zeros() as i32,
            (x as f32 * 1e6).round_ties_even() as i32,
        ];
        assert_eq!(got[i * 13..][..13], want, "pair {i}");
    }
    let x = [0.5f32, -2.25, 1e-20, 300.0, f32::INFINITY, f32::NAN];
    let (bx, bo) = (bench.upload("in", &x), bench.upload("out", &vec![0f32; x.len() * 12]));
    bench.launch(&module, 1, [1; 3], [32, 1, 1], 0, vec![buffer(bx), buffer(bo), int(x.len() as i32)]);
    let got: Vec<f32> = bench.read(bo);
    for (i, x) in x.into_iter().enumerate() {
        let row = &got[i * 12..][..12];
        let near = |g: f32, w: f32| g == w || (g - w).abs() <= 1e-6 * w.abs() || (g.is_nan() && w.is_nan());
        assert!(near(row[0], x.exp()) && near(row[1], 1.0 / x.abs().sqrt()) && near(row[2], 1.0 / x), "{x}: {row:?}");
        assert!(near(row[3], x.mul_add(2.0, 1.0)) && near(row[9], x / 3.0) && near(row[6], x.tanh()), "{x}: {row:?}");
        assert_eq!(row[4], if x.is_nan() { 0.0 } else { x.clamp(0.0, 1.0) });
        assert!(x.is_nan() || (row[7] == x && row[8] == x), "max and min prefer the number");
        assert_eq!(row[10], x as i32 as f32);
        assert_eq!(row[11], if x.is_finite() { 0.0 } else { 1.0 });
    }
}
