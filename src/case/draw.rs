//! Values from a stream, in parallel: element `i` depends on the stream and `i` alone, so thread counts do not matter.

use rayon::prelude::*;

use super::{Stream, normal_quantiles};

/// Elements per task; a multiple of the four lanes of a word.
const CHUNK: usize = 1 << 14;

fn fill<T: Send + Copy + Default>(n: usize, chunk: impl Fn(u64, &mut [T]) + Sync) -> Vec<T> {
    let mut values = vec![T::default(); n];
    values.par_chunks_mut(CHUNK).enumerate().for_each(|(i, values)| chunk((i * CHUNK) as u64, values));
    values
}

/// Standard normal values: each word gives four, one for each 16-bit lane, lowest lane first.
pub fn draw_normal(stream: Stream, n: usize) -> Vec<f32> {
    let table = normal_quantiles();
    fill(n, |start, values| {
        for (word, values) in values.chunks_mut(4).enumerate() {
            let bits = stream.word(start / 4 + word as u64);
            for (lane, value) in values.iter_mut().enumerate() {
                *value = table[(bits >> (16 * lane)) as usize & 0xffff];
            }
        }
    })
}

/// Uniform values in [0, 1): multiples of 2^-24, which f32 holds exactly.
pub fn draw_uniform(stream: Stream, n: usize) -> Vec<f32> {
    fill(n, |start, values| {
        for (i, value) in values.iter_mut().enumerate() {
            *value = (stream.word(start + i as u64) >> 40) as f32 / (1 << 24) as f32;
        }
    })
}

/// Whole numbers uniform in `low..high`. An empty range gives `low` everywhere.
pub fn draw_int(stream: Stream, n: usize, low: i64, high: i64) -> Vec<i64> {
    let range = if high > low { high.wrapping_sub(low) as u64 } else { 1 };
    fill(n, |start, values| {
        for (i, value) in values.iter_mut().enumerate() {
            *value = low.wrapping_add(stream.below(start + i as u64, range) as i64);
        }
    })
}

/// True with probability `p` (clamped to [0, 1]), to a resolution of 2^-53.
pub fn draw_bernoulli(stream: Stream, n: usize, p: f64) -> Vec<bool> {
    let threshold = (p.clamp(0.0, 1.0) * (1_u64 << 53) as f64) as u64;
    fill(n, |start, values| {
        for (i, value) in values.iter_mut().enumerate() {
            *value = stream.word(start + i as u64) >> 11 < threshold;
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::StreamKey;
    use sha2::{Digest, Sha256};

    fn stream(name: &str) -> Stream {
        Stream::new(StreamKey { case_id: "0123456789ab", seed: 7, name, draw: 0 })
    }

    fn hash<T>(values: &[T], bytes: impl Fn(&T) -> Vec<u8>) -> String {
        let mut hash = Sha256::new();
        values.iter().for_each(|value| hash.update(bytes(value)));
        hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn the_drawn_bits_never_change() {
        let n = 100_003;
        let hashes = [
            hash(&draw_normal(stream("x"), n), |v| v.to_le_bytes().to_vec()),
            hash(&draw_uniform(stream("x"), n), |v| v.to_le_bytes().to_vec()),
            hash(&draw_int(stream("x"), n, -3, 997), |v| v.to_le_bytes().to_vec()),
            hash(&draw_bernoulli(stream("x"), n, 0.125), |v| vec![u8::from(*v)]),
        ];
        assert_eq!(hashes, GOLDEN);
    }

    #[test]
    fn a_shorter_draw_is_a_prefix_and_one_thread_gives_the_same() {
        let long = draw_normal(stream("x"), 3 * CHUNK + 5);
        for n in [0, 1, 3, 4, 5, CHUNK - 1, CHUNK, CHUNK + 1] {
            assert_eq!(draw_normal(stream("x"), n), long[..n]);
        }
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(one.install(|| draw_normal(stream("x"), long.len())), long);
    }

    #[test]
    fn moments_and_tails_are_those_of_the_distributions() {
        let n = 400_000;
        let normal = draw_normal(stream("x"), n);
        let moment = |k| normal.iter().map(|&z| f64::from(z).powi(k)).sum::<f64>() / n as f64;
        assert!(moment(1).abs() < 5e-3 && (moment(2) - 1.0).abs() < 1e-2 && moment(3).abs() < 3e-2);
        // Neighbours (lanes of one word) are uncorrelated.
        let lag = normal.windows(2).map(|pair| f64::from(pair[0] * pair[1])).sum::<f64>() / n as f64;
        assert!(lag.abs() < 8e-3, "{lag}");

        let uniform = draw_uniform(stream("u"), n);
        assert!(uniform.iter().all(|value| (0.0..1.0).contains(value)));
        let mean = uniform.iter().map(|&u| f64::from(u)).sum::<f64>() / n as f64;
        assert!((mean - 0.5).abs() < 3e-3);

        let share = |p| draw_bernoulli(stream("b"), n, p).iter().filter(|&&b| b).count() as f64 / n as f64;
        assert!((share(0.125) - 0.125).abs() < 3e-3);
        assert_eq!((share(0.0), share(1.0), share(f64::NAN)), (0.0, 1.0, 0.0));
    }

    #[test]
    fn integers_reach_both_ends_of_any_range() {
        let labels = draw_int(stream("labels"), 10_000, 0, 10);
        assert_eq!((labels.iter().min(), labels.iter().max()), (Some(&0), Some(&9)));
        assert!(draw_int(stream("labels"), 100, 5, 5).iter().all(|&v| v == 5));
        assert!(draw_int(stream("labels"), 100, -128, -127).iter().all(|&v| v == -128));
        let wide = draw_int(stream("labels"), 100, i64::MIN, i64::MAX);
        assert!(wide.iter().any(|&v| v < 0) && wide.iter().any(|&v| v > 0));
    }

    const GOLDEN: [&str; 4] = ["54b3b82b87633869", "1cd73f6a1714388c", "416d7640779ad6a1", "1d396d87a69287fd"];
}
