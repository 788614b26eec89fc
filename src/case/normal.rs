//! An exact table of standard normal quantiles, made from + - * / sqrt only, which IEEE 754 fixes to the last bit.

#![expect(clippy::excessive_precision, reason = "coefficients stand as they were published")]

use std::sync::LazyLock;

/// Entries in the table: one for each 16-bit lane.
pub(super) const QUANTILES: usize = 1 << 16;

/// Entry `i` is the standard normal quantile at `(i + 0.5) / 65536`, rounded to f32: from -4.33 to 4.33, and entry
/// `65535 - i` is exactly the negative of entry `i`.
pub fn normal_quantiles() -> &'static [f32; QUANTILES] {
    static TABLE: LazyLock<Box<[f32; QUANTILES]>> = LazyLock::new(|| {
        let mut table = Box::new([0.0; QUANTILES]);
        for i in 0..QUANTILES / 2 {
            let quantile = quantile((i as f64 + 0.5) / QUANTILES as f64) as f32;
            table[i] = quantile;
            table[QUANTILES - 1 - i] = -quantile;
        }
        table
    });
    &TABLE
}

/// Standard normal quantile of `p` in (e^-25, 1/2], relative error about 1e-16: routine PPND16 of M. J. Wichura,
/// "Algorithm AS 241: The percentage points of the normal distribution", Applied Statistics 37 (1988) 477-484.
fn quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q >= -0.425 {
        let r = 0.180_625 - q * q;
        return q * polynomial(&CENTRE_OVER, r) / polynomial(&CENTRE_UNDER, r);
    }
    let r = (-ln(p)).sqrt() - 1.6;
    -polynomial(&TAIL_OVER, r) / polynomial(&TAIL_UNDER, r)
}

/// Horner's rule, lowest coefficient first.
fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

/// Natural logarithm of a positive normal number: `x = m * 2^k` with m in [sqrt(1/2), sqrt(2)), and
/// `ln m = 2 artanh(s)` with `s = (m - 1) / (m + 1)`, |s| < 0.172, whose series is cut below 1e-18.
fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut exponent = ((bits >> 52) & 0x7ff) as i64 - 1023;
    let mut mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000);
    if mantissa >= std::f64::consts::SQRT_2 {
        mantissa *= 0.5;
        exponent += 1;
    }
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let s2 = s * s;
    let series = (0..12).rev().fold(0.0, |sum, n| sum * s2 + 1.0 / (2 * n + 1) as f64);
    exponent as f64 * std::f64::consts::LN_2 + 2.0 * s * series
}

const CENTRE_OVER: [f64; 8] = [
    3.387_132_872_796_366_608,
    133.141_667_891_784_377_45,
    1_971.590_950_306_551_442_7,
    13_731.693_765_509_461_125,
    45_921.953_931_549_871_457,
    67_265.770_927_008_700_853,
    33_430.575_583_588_128_105,
    2_509.080_928_730_122_672_7,
];
const CENTRE_UNDER: [f64; 8] = [
    1.0,
    42.313_330_701_600_911_252,
    687.187_007_492_057_908_30,
    5_394.196_021_424_751_107_7,
    21_213.794_301_586_595_867,
    39_307.895_800_092_710_610,
    28_729.085_735_721_942_674,
    5_226.495_278_852_854_561_0,
];
const TAIL_OVER: [f64; 8] = [
    1.423_437_110_749_683_577_34,
    4.630_337_846_156_545_295_90,
    5.769_497_221_460_691_405_50,
    3.647_848_324_763_204_605_04,
    1.270_458_252_452_368_382_58,
    0.241_780_725_177_450_611_770,
    0.022_723_844_989_269_184_583_3,
    7.745_450_142_783_414_076_40e-4,
];
const TAIL_UNDER: [f64; 8] = [
    1.0,
    2.053_191_626_637_758_821_87,
    1.676_384_830_183_803_849_40,
    0.689_767_334_985_100_004_550,
    0.148_103_976_427_480_074_590,
    0.015_198_666_563_616_457_196_6,
    5.475_938_084_995_344_946_00e-4,
    1.050_750_071_644_416_843_24e-9,
];

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    #[test]
    fn the_bits_of_the_table_never_change() {
        let mut hash = Sha256::new();
        normal_quantiles().iter().for_each(|value| hash.update(value.to_le_bytes()));
        let hex: String = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "1cfbba1e07e34386");
    }

    #[test]
    fn quantiles_agree_with_an_independent_inverse() {
        // statistics.NormalDist().inv_cdf of Python 3.11 at (i + 0.5) / 65536.
        let table = normal_quantiles();
        for (i, expected) in REFERENCE {
            assert!((f64::from(table[i]) - expected).abs() <= expected.abs() * 6e-8, "{i}: {}", table[i]);
        }
    }

    #[test]
    fn the_table_is_symmetric_increasing_and_has_the_moments_of_a_normal() {
        let table = normal_quantiles();
        assert!(table.windows(2).all(|pair| pair[0] < pair[1]));
        assert!((0..QUANTILES).all(|i| table[i] == -table[QUANTILES - 1 - i]));
        let moment = |k| table.iter().map(|&z| f64::from(z).powi(k)).sum::<f64>() / QUANTILES as f64;
        assert!((moment(2) - 1.0).abs() < 1e-3, "variance {}", moment(2));
        assert!((moment(4) - 3.0).abs() < 2e-2, "fourth moment {}", moment(4));
    }

    #[test]
    fn the_logarithm_matches_the_library_to_the_last_bits() {
        for i in 0..32_768 {
            let p = (f64::from(i) + 0.5) / 65_536.0;
            assert!((ln(p) - p.ln()).abs() <= 4.0 * f64::EPSILON * p.ln().abs().max(1.0));
        }
    }

    const REFERENCE: [(usize, f64); 6] = [
        (0, -4.324_919_040_826_044),
        (1, -4.076_206_516_032_617),
        (100, -2.960_940_022_030_080_3),
        (4915, -1.439_499_133_567_707_4),
        (4916, -1.439_391_353_201_951),
        (32767, -1.912_405_605_151_208_3e-5),
    ];
}
