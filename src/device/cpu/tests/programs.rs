//! Whole kernels against plain Rust loops.

use super::{Bench, buffer, compile, float, int};

fn noise(n: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 8_388_608.0 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

fn close(got: &[f32], want: &[f32], tolerance: f32) {
    assert_eq!(got.len(), want.len());
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        assert!((g - w).abs() <= tolerance * (1.0 + w.abs()), "index {i}: got {g}, want {w}");
    }
}

#[test]
fn saxpy_over_edge_sizes() {
    let module = compile("saxpy.cu", &["saxpy"]);
    assert_eq!(module.kernels[0].params.len(), 4);
    for n in [1usize, 31, 32, 33, 255, 256, 257, 10_007] {
        let mut bench = Bench::new();
        let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let (bx, by) = (bench.upload("x", &x), bench.upload("y", &vec![1f32; n]));
        let args = vec![buffer(bx), buffer(by), float(2.0), int(n as i32)];
        bench.launch(&module, 0, [n.div_ceil(256) as u32, 1, 1], [256, 1, 1], 0, args);
        assert!(bench.read::<f32>(by).iter().enumerate().all(|(i, y)| *y == 2.0 * i as f32 + 1.0), "n = {n}");
    }
}

#[test]
fn rms_norm_and_its_wide_form() {
    let module = compile("rms_norm.cu", &["rms_norm", "rms_norm_v4"]);
    for (rows, cols) in [(1usize, 4usize), (3, 252), (5, 1024), (37, 4096)] {
        let (x, w) = (noise(rows * cols, 1), noise(cols, 2));
        let want: Vec<f32> = x
            .chunks(cols)
            .flat_map(|row| {
                let mean = row.iter().map(|v| f64::from(*v) * f64::from(*v)).sum::<f64>() / cols as f64;
                let r = 1.0 / (mean + 1e-5).sqrt();
                row.iter().zip(&w).map(|(v, w)| (f64::from(*v) * r * f64::from(*w)) as f32).collect::<Vec<_>>()
            })
            .collect();
        for kernel in 0..2 {
            let mut bench = Bench::new();
            let (bx, bw, by) =
                (bench.upload("x", &x), bench.upload("w", &w), bench.upload("y", &vec![0f32; rows * cols]));
            let args = vec![buffer(bx), buffer(bw), buffer(by), int(cols as i32), float(1e-5)];
            let got: Vec<f32> = bench.run(&module, kernel, rows as u32, 256, args);
            close(&got, &want, 1e-5);
        }
    }
}

#[test]
fn softmax_with_dynamic_shared_memory() {
    let module = compile("softmax.cu", &["softmax"]);
    for (rows, cols, block) in [(3usize, 1000usize, 256u32), (2, 7, 64), (4, 4099, 1024)] {
        let x = noise(rows * cols, 3);
        let want: Vec<f32> = x
            .chunks(cols)
            .flat_map(|row| {
                let top = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let e: Vec<f64> = row.iter().map(|v| f64::from(v - top).exp()).collect();
                let sum: f64 = e.iter().sum();
                e.iter().map(|v| (v / sum) as f32).collect::<Vec<_>>()
            })
            .collect();
        let mut bench = Bench::new();
        let (bx, by) = (bench.upload("x", &x), bench.upload("y", &vec![0f32; rows * cols]));
        let shared = (block / 32 + 1) * 4;
        bench.launch(
            &module,
            0,
            [rows as u32, 1, 1],
            [block, 1, 1],
            shared,
            vec![buffer(bx), buffer(by), int(cols as i32)],
        );
        close(&bench.read::<f32>(by), &want, 1e-5);
    }
}

#[test]
fn tiled_matrix_products() {
    let module = compile("matmul.cu", &["matmul", "matmul_reg"]);
    for (kernel, m, n, k) in [(0u32, 33usize, 17usize, 50usize), (0, 1, 1, 1), (1, 64, 128, 32)] {
        let (a, b) = (noise(m * k, 4), noise(k * n, 5));
        let mut want = vec![0f32; m * n];
        for i in 0..m {
            for j in 0..n {
                want[i * n + j] = (0..k).map(|l| f64::from(a[i * k + l]) * f64::from(b[l * n + j])).sum::<f64>() as f32;
            }
        }
        let mut bench = Bench::new();
        let (ba, bb, bc) = (bench.upload("a", &a), bench.upload("b", &b), bench.upload("c", &vec![0f32; m * n]));
        let args = vec![buffer(ba), buffer(bb), buffer(bc), int(m as i32), int(n as i32), int(k as i32)];
        let tile = if kernel == 0 { 16 } else { 64 };
        let grid = [n.div_ceil(tile) as u32, m.div_ceil(tile) as u32, 1];
        let block = if kernel == 0 { [16, 16, 1] } else { [256, 1, 1] };
        bench.launch(&module, kernel, grid, block, 0, args);
        close(&bench.read::<f32>(bc), &want, 1e-4);
    }
}

#[test]
fn transpose_and_histogram() {
    let module = compile("transpose.cu", &["transpose"]);
    for (rows, cols) in [(1usize, 1usize), (31, 33), (64, 100)] {
        let x = noise(rows * cols, 6);
        let mut bench = Bench::new();
        let (bx, by) = (bench.upload("x", &x), bench.upload("y", &vec![0f32; rows * cols]));
        let grid = [cols.div_ceil(32) as u32, rows.div_ceil(32) as u32, 1];
        bench.launch(&module, 0, grid, [32, 8, 1], 0, vec![buffer(bx), buffer(by), int(rows as i32), int(cols as i32)]);
        let y: Vec<f32> = bench.read(by);
        assert!((0..rows).all(|r| (0..cols).all(|c| y[c * rows + r] == x[r * cols + c])));
    }
    let module = compile("histogram.cu", &["histogram"]);
    let data: Vec<u8> = noise(100_003, 7).iter().map(|v| (v * 127.0 + 128.0) as u8).collect();
    let mut want = vec![0u32; 256];
    data.iter().for_each(|byte| want[usize::from(*byte)] += 1);
    let mut bench = Bench::new();
    let (bd, bb) = (bench.upload("data", &data), bench.upload("bins", &[0u32; 256]));
    let got: Vec<u32> = bench.run(&module, 0, 13, 256, vec![buffer(bd), buffer(bb), int(data.len() as i32)]);
    assert_eq!(got, want);
}

#[test]
fn swiglu_in_bfloat16() {
    use half::bf16;
    let module = compile("swiglu.cu", &["swiglu_bf16"]);
    let n = 8 * 1003;
    let narrow = |seed| noise(n, seed).iter().map(|v| bf16::from_f32(v * 4.0)).collect::<Vec<bf16>>();
    let (gate, up) = (narrow(8), narrow(9));
    let mut bench = Bench::new();
    let (bg, bu, bo) =
        (bench.upload("gate", &gate), bench.upload("up", &up), bench.upload("out", &vec![bf16::ZERO; n]));
    bench.launch(&module, 0, [4, 1, 1], [256, 1, 1], 0, vec![buffer(bg), buffer(bu), buffer(bo), int(n as i32)]);
    for (i, got) in bench.read::<bf16>(bo).iter().enumerate() {
        let (g, u) = (f64::from(gate[i]), f64::from(up[i]));
        let want = g / (1.0 + (-g).exp()) * u;
        assert!((f64::from(*got) - want).abs() <= 0.005 * want.abs() + 1e-6, "index {i}: {got} {want}");
    }
}
