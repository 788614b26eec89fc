//! half and bfloat16 against the `half` crate.

use half::{bf16, f16};

use super::{Bench, buffer, compile, int};

type Wide = fn(u16) -> f64;
type Round = fn(f64) -> u16;

/// All bit patterns.
fn all<T>(from: fn(u16) -> T) -> Vec<T> {
    (0..=u16::MAX).map(from).collect()
}

/// Floats that round in every way: around each half, ties, subnormals, limits, random bits.
fn floats() -> Vec<f32> {
    let mut out = vec![0.0, -0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN_POSITIVE, 65_504.0];
    out.extend([65_519.996, 65_520.0, -65_520.0, 1e-8, 2.98e-8, 5.96e-8, 6.1e-5]);
    for bits in 0..=u16::MAX {
        let v = f32::from(f16::from_bits(bits));
        if v.is_finite() {
            let up = f32::from(f16::from_bits(bits.wrapping_add(1)));
            out.extend([v, (v + up) / 2.0, f32::from_bits(((v + up) / 2.0).to_bits() ^ 1)]);
        }
    }
    let mut state = 1u32;
    out.extend((0..300_000).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f32::from_bits(state ^ state >> 16)
    }));
    out
}

fn same(got: u16, want: u16, nan: bool) -> bool {
    nan || got == want
}

#[test]
fn widening_is_exact_for_all_bits() {
    let module = compile("half.cu", &["half_to_float", "bf16_to_float"]);
    let n = 65_536;
    let mut bench = Bench::new();
    let (h, b) = (bench.upload("h", &all(f16::from_bits)), bench.upload("b", &all(bf16::from_bits)));
    let (oh, ob) = (bench.upload("oh", &vec![0f32; n]), bench.upload("ob", &vec![0f32; n]));
    bench.launch(&module, 0, [256, 1, 1], [256, 1, 1], 0, vec![buffer(h), buffer(oh), int(n as i32)]);
    bench.launch(&module, 1, [256, 1, 1], [256, 1, 1], 0, vec![buffer(b), buffer(ob), int(n as i32)]);
    let equal = |got: f32, want: f32| got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan());
    for (bits, got) in (0..=u16::MAX).zip(bench.read::<f32>(oh)) {
        assert!(equal(got, f16::from_bits(bits).to_f32()), "{bits:#06x}");
    }
    for (bits, got) in (0..=u16::MAX).zip(bench.read::<f32>(ob)) {
        assert!(equal(got, bf16::from_bits(bits).to_f32()), "{bits:#06x}");
    }
}

#[test]
fn narrowing_rounds_to_nearest_even() {
    let module = compile("half.cu", &["float_to_half", "float_to_bf16", "double_to_both"]);
    let x = floats();
    let n = x.len();
    let grid = [n.div_ceil(256) as u32, 1, 1];
    let mut bench = Bench::new();
    let bx = bench.upload("x", &x);
    let (oh, ob) = (bench.upload("oh", &vec![0u16; n]), bench.upload("ob", &vec![0u16; n]));
    bench.launch(&module, 0, grid, [256, 1, 1], 0, vec![buffer(bx), buffer(oh), int(n as i32)]);
    bench.launch(&module, 1, grid, [256, 1, 1], 0, vec![buffer(bx), buffer(ob), int(n as i32)]);
    let (got_h, got_b) = (bench.read::<u16>(oh), bench.read::<u16>(ob));
    for (i, x) in x.iter().enumerate() {
        assert!(same(got_h[i], f16::from_f32(*x).to_bits(), x.is_nan()), "half({x:e})");
        assert!(same(got_b[i], bf16::from_f32(*x).to_bits(), x.is_nan()), "bf16({x:e})");
    }
    // Doubles just off a tie of the narrow type, where a stop at float would round twice.
    let wide: Vec<f64> =
        x.iter().flat_map(|v| [f64::from(*v), f64::from(*v) * (1.0 + 1e-12), f64::from(*v) * (1.0 - 1e-12)]).collect();
    let n = wide.len();
    let bw = bench.upload("w", &wide);
    let (oh, ob) = (bench.upload("oh2", &vec![0u16; n]), bench.upload("ob2", &vec![0u16; n]));
    let grid = [n.div_ceil(256) as u32, 1, 1];
    bench.launch(&module, 2, grid, [256, 1, 1], 0, vec![buffer(bw), buffer(oh), buffer(ob), int(n as i32)]);
    let (got_h, got_b) = (bench.read::<u16>(oh), bench.read::<u16>(ob));
    for (i, x) in wide.iter().enumerate() {
        assert!(same(got_h[i], nearest_half(*x), x.is_nan()), "half({x:e}): {:#x}", got_h[i]);
        assert!(same(got_b[i], nearest_bf16(*x), x.is_nan()), "bf16({x:e}): {:#x}", got_b[i]);
    }
}

/// The nearest narrow value by search, ties to even: no rounding of a conversion is trusted. `infinity` is its bits.
fn nearest(x: f64, infinity: u16, value: fn(u16) -> f64) -> u16 {
    let sign = if x.is_sign_negative() { 0x8000 } else { 0 };
    let a = x.abs();
    let (mut low, mut high) = (0u16, infinity);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if value(middle) <= a { low = middle } else { high = middle }
    }
    let below = value(low);
    // The value after the largest finite one, had the exponent gone on.
    let above = if high == infinity { below + (below - value(low - 1)) } else { value(high) };
    let (down, up) = (a - below, above - a);
    let bits = if a.is_infinite() || up < down || (up == down && low & 1 == 1) { high } else { low };
    sign | bits
}

fn nearest_half(x: f64) -> u16 {
    nearest(x, 0x7c00, |bits| f16::from_bits(bits).to_f64())
}

fn nearest_bf16(x: f64) -> u16 {
    nearest(x, 0x7f80, |bits| bf16::from_bits(bits).to_f64())
}

#[test]
fn arithmetic_rounds_once() {
    let module = compile("half.cu", &["arithmetic<__half>", "arithmetic<__nv_bfloat16>"]);
    let mut state = 7u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 13) as u16
    };
    let (a, b): (Vec<u16>, Vec<u16>) = (0..50_000).map(|_| (next(), next())).unzip();
    let n = a.len();
    for kernel in 0..2u32 {
        let mut bench = Bench::new();
        let (ba, bb, bo) = (bench.upload("a", &a), bench.upload("b", &b), bench.upload("out", &vec![0u16; n * 5]));
        bench.launch(
            &module,
            kernel,
            [n.div_ceil(256) as u32, 1, 1],
            [256, 1, 1],
            0,
            vec![buffer(ba), buffer(bb), buffer(bo), int(n as i32)],
        );
        let got: Vec<u16> = bench.read(bo);
        let (wide, round): (Wide, Round) = if kernel == 0 {
            (|v| f16::from_bits(v).to_f64(), nearest_half)
        } else {
            (|v| bf16::from_bits(v).to_f64(), nearest_bf16)
        };
        for i in 0..n {
            let (x, y) = (wide(a[i]), wide(b[i]));
            // Sum and product of narrow values by way of f64: exact or far from a tie, but for huge exponent gaps.
            for (op, want) in [x + y, x - y, x * y, x / y].into_iter().enumerate() {
                let got = got[i * 5 + op];
                // Operations are in float, whose range ends where bfloat16's does.
                let limit = kernel == 1 && (want.abs() < 1e-37 || want.abs() > 3e38);
                assert!(
                    limit || same(got, round(want), want.is_nan()),
                    "kernel {kernel} op {op}: {x:e} {y:e} gave {got:#x}"
                );
            }
        }
    }
}

#[test]
fn pairs_and_narrow_atomics() {
    let module = compile("half.cu", &["pairs", "narrow_atomics"]);
    let n = 37;
    let h: Vec<f16> = (0..2 * n).map(|i| f16::from_f32(i as f32 * 0.25 - 4.0)).collect();
    let b: Vec<bf16> = (0..2 * n).map(|i| bf16::from_f32(i as f32)).collect();
    let mut bench = Bench::new();
    let (bh, bb) = (bench.upload("h", &h), bench.upload("b", &b));
    let (oh, ob) = (bench.upload("oh", &vec![f16::ZERO; 2 * n]), bench.upload("ob", &vec![bf16::ZERO; 2 * n]));
    bench.launch(
        &module,
        0,
        [1; 3],
        [64, 1, 1],
        0,
        vec![buffer(bh), buffer(oh), buffer(bb), buffer(ob), int(n as i32)],
    );
    let (got_h, got_b) = (bench.read::<f16>(oh), bench.read::<bf16>(ob));
    for i in 0..2 * n {
        let s = h[i].to_f32() * 2.0 + 1.0;
        assert_eq!(got_h[i].to_f32(), f16::from_f32(s * s).to_f32(), "half {i}");
        assert_eq!(got_b[i].to_f32(), bf16::from_f32(b[i ^ 1].to_f32() + 1.0).to_f32(), "bf16 {i}");
    }
    let (a, p, c) =
        (bench.upload("a", &[f16::ZERO; 1]), bench.upload("p", &[f16::ZERO; 2]), bench.upload("c", &[bf16::ZERO; 1]));
    bench.launch(&module, 1, [4, 1, 1], [50, 1, 1], 0, vec![buffer(a), buffer(p), buffer(c)]);
    assert_eq!(bench.read::<f16>(a)[0].to_f32(), 200.0);
    assert_eq!(bench.read::<f16>(p).iter().map(|v| v.to_f32()).collect::<Vec<_>>(), [200.0, 400.0]);
    assert_eq!(bench.read::<bf16>(c)[0].to_f32(), 200.0);
}
