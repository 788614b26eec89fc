//! Counter-based random bits: word `i` of a stream is a pure function of the stream's key and `i`.

use sha2::{Digest, Sha256};

/// What a stream is drawn for. Two different keys give unrelated streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamKey<'a> {
    pub case_id: &'a str,
    pub seed: u64,
    /// Parameter (or cotangent) that the values go to.
    pub name: &'a str,
    /// Which draw for that name: 0 is the raw draw, later ones are what an op's `inputs` function asks for.
    pub draw: u64,
}

/// Random 64-bit words by index: SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
/// OOPSLA 2014, section 2; finalizer constants "variant 13" of Stafford). Integers only, so any device can produce it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    key: u64,
}

const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

impl Stream {
    /// The key is the first eight bytes (little-endian) of the sha256 of
    /// `popcorn draw 1 \0 case_id \0 seed \0 name \0 draw` without the blanks around `\0`, numbers in decimal.
    pub fn new(key: StreamKey<'_>) -> Self {
        let StreamKey { case_id, seed, name, draw } = key;
        let digest = Sha256::digest(format!("popcorn draw 1\0{case_id}\0{seed}\0{name}\0{draw}"));
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&digest[..8]);
        Self { key: u64::from_le_bytes(bytes) }
    }

    /// Word `index`, uniform over all 64-bit values.
    pub fn word(self, index: u64) -> u64 {
        mix(self.key.wrapping_add(index.wrapping_add(1).wrapping_mul(GAMMA)))
    }

    /// An integer uniform in `0..range` without bias: multiply-and-reject (Lemire, "Fast random integer generation in
    /// an interval", ACM TOMACS 29, 2019); a rejected word is mixed again, so that index `i` never moves index `i + 1`.
    /// `range` 0 stands for 2^64.
    pub fn below(self, index: u64, range: u64) -> u64 {
        let mut word = self.word(index);
        if range == 0 {
            return word;
        }
        let threshold = range.wrapping_neg() % range;
        loop {
            let product = u128::from(word) * u128::from(range);
            if product as u64 >= threshold {
                return (product >> 64) as u64;
            }
            word = mix(word.wrapping_add(GAMMA));
        }
    }
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(seed: u64, name: &str) -> Stream {
        Stream::new(StreamKey { case_id: "c1fcc351ec4d", seed, name, draw: 0 })
    }

    #[test]
    fn words_are_fixed_for_ever() {
        // SplitMix64 seeded with 0 starts with this word (known answer of the published generator).
        assert_eq!(Stream { key: 0 }.word(0), 0xe220_a839_7b1d_cdaf);
        let words: Vec<u64> = (0..3).map(|i| stream(0, "x").word(i)).collect();
        assert_eq!(words, WORDS);
    }

    #[test]
    fn every_part_of_the_key_matters() {
        let base = stream(0, "x");
        assert_ne!(base, stream(1, "x"));
        assert_ne!(base, stream(0, "y"));
        assert_ne!(base, Stream::new(StreamKey { case_id: "0", seed: 0, name: "x", draw: 0 }));
        assert_ne!(base, Stream::new(StreamKey { case_id: "c1fcc351ec4d", seed: 0, name: "x", draw: 1 }));
    }

    #[test]
    fn integers_cover_their_range_evenly_and_never_leave_it() {
        for range in [1_u64, 2, 3, 7, 1000] {
            let mut counts = vec![0_u32; range as usize];
            let n = 20_000.max(range * 100);
            (0..n).for_each(|i| counts[stream(3, "labels").below(i, range) as usize] += 1);
            let mean = n as f64 / range as f64;
            let chi2: f64 = counts.iter().map(|&c| (f64::from(c) - mean).powi(2) / mean).sum();
            let dof = range as f64 - 1.0;
            assert!(chi2 < dof + 5.0 * (2.0 * dof).sqrt() + 1e-9, "range {range}: chi2 {chi2}");
        }
        // A range just above 2^63 rejects almost half of the words; the values stay inside it.
        let range = (1 << 63) + 1;
        assert!((0..1000).all(|i| stream(0, "x").below(i, range) < range));
    }

    const WORDS: [u64; 3] = [17_283_113_913_789_372_174, 1_795_430_453_525_611_402, 11_455_323_382_366_133_561];
}
