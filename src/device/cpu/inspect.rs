//! What a compiled object needs and describes, read without running it.

use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};

use super::wrapper::PARAM_SECTION;
use crate::device::params;
use crate::model::ParamInfo;

/// Functions outside the object that it may call besides libm's: they touch nothing but memory and stderr.
const ALLOWED: [&str; 11] = [
    "memcpy",
    "memmove",
    "memset",
    "memcmp",
    "strlen",
    "dprintf",
    "__tls_get_addr",
    "__tls_get_addr_slow",
    "_GLOBAL_OFFSET_TABLE_",
    "__stack_chk_fail",
    "abort",
];

/// libm's functions by stem; each also with suffix `f`.
const MATH: &str = " exp exp2 exp10 expm1 log log2 log10 log1p sqrt cbrt sin cos tan asin acos atan sinh cosh tanh asinh \
                    acosh atanh erf erfc tgamma lgamma floor ceil round trunc rint nearbyint fabs logb j0 j1 y0 y1 pow \
                    fmod atan2 hypot fmin fmax copysign remainder fdim nextafter fma ldexp scalbn frexp modf ilogb \
                    sincos lrint lround llrint llround powi ";

/// An object file's needs.
#[derive(Debug, Default)]
pub(super) struct Needs {
    /// Names of `extern __shared__` arrays.
    pub(super) dynamic_shared: Vec<String>,
    /// Initialisers that clang calls, where they exist, before it touches an `extern __shared__` array.
    pub(super) initialisers: Vec<String>,
    /// Functions and variables that nothing here defines.
    pub(super) undefined: Vec<String>,
    /// `__shared__` variables with a constructor or an initial value.
    pub(super) initialised_shared: Vec<String>,
}

/// Reads an object file. The error is the parser's own.
pub(super) fn needs(object: &[u8]) -> Result<Needs, object::Error> {
    let file = object::File::parse(object)?;
    let mut needs = Needs::default();
    for symbol in file.symbols() {
        let Ok(name) = symbol.name() else { continue };
        if name.is_empty() {
            continue;
        }
        if symbol.is_undefined() {
            let ours = name.starts_with("simt_");
            if symbol.kind() == SymbolKind::Tls {
                // The context's definition comes from its own library.
                if !ours {
                    needs.dynamic_shared.push(name.to_owned());
                }
            } else if symbol.is_weak() && name.starts_with("_ZTH") {
                needs.initialisers.push(name.to_owned());
            } else if !ours && !symbol.is_weak() && !allowed(name) {
                needs.undefined.push(name.to_owned());
            }
        } else if symbol.kind() == SymbolKind::Tls {
            let initialised = symbol
                .section_index()
                .and_then(|index| file.section_by_index(index).ok())
                .is_some_and(|section| section.kind() == object::SectionKind::Tls && section.size() > 0);
            let guard = name.starts_with("_ZGV") || name.starts_with("__tls_guard");
            if initialised || guard {
                needs.initialised_shared.push(name.trim_start_matches("_ZGV").to_owned());
            }
        }
    }
    needs.dynamic_shared.sort();
    needs.dynamic_shared.dedup();
    Ok(needs)
}

fn allowed(name: &str) -> bool {
    let math = |stem: &str| MATH.contains(&format!(" {stem} "));
    // Helpers of the compiler itself (wide division, conversions of narrow floats).
    let helper = name.starts_with("__")
        && ["ti3", "ti2", "hf2", "hfsf2", "bf2", "di2", "si2", "hfdf2", "tihf", "hfti", "sfti", "dfti", "tisf", "tidf"]
            .iter()
            .any(|end| name.ends_with(end));
    ALLOWED.contains(&name) || math(name) || name.strip_suffix('f').is_some_and(math) || helper
}

/// Parameter lists by kernel index, as the wrapper wrote them.
pub(super) fn parameters(object: &[u8], kernels: usize) -> Option<Vec<Vec<ParamInfo>>> {
    let file = object::File::parse(object).ok()?;
    params::read(file.section_by_name(PARAM_SECTION)?.data().ok()?, kernels)
}

/// Largest stack frame in a `-fstack-usage` report, bytes.
pub(super) fn largest_frame(report: &str) -> u64 {
    report.lines().filter_map(|line| line.split('\t').nth(1)?.parse::<u64>().ok()).max().unwrap_or(0)
}
