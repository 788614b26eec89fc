//! A look at the source text itself, for messages that the compiler cannot give.

/// The text with comments and literals blanked out, line breaks kept, so that offsets and lines stay.
pub(in crate::device) fn strip(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    let blank = |out: &mut [u8], from: usize, to: usize| {
        for byte in &mut out[from..to] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    };
    while at < bytes.len() {
        let rest = &bytes[at..];
        let end = if rest.starts_with(b"//") {
            at + rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len())
        } else if rest.starts_with(b"/*") {
            at + rest.windows(2).skip(2).position(|w| w == b"*/").map_or(rest.len(), |end| end + 4)
        } else if rest[0] == b'"' || (rest[0] == b'\'' && (at == 0 || !bytes[at - 1].is_ascii_alphanumeric())) {
            let mut end = 1;
            while end < rest.len() && rest[end] != rest[0] && rest[end] != b'\n' {
                end += if rest[end] == b'\\' { 2 } else { 1 };
            }
            at + (end + 1).min(rest.len())
        } else {
            at += 1;
            continue;
        };
        blank(&mut out, at, end);
        at = end;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// 1-based line of a byte offset.
pub(in crate::device) fn line_at(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Offsets at which `word` stands as a whole word.
fn words<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let bytes = text.as_bytes();
        let before = at.checked_sub(1).is_none_or(|i| !is_word(bytes[i]));
        before && bytes.get(at + word.len()).is_none_or(|byte| !is_word(*byte))
    })
}

/// First line that names `word` outside comments and literals. `stripped` comes from [`strip`].
pub(in crate::device) fn line_of_word(stripped: &str, word: &str) -> Option<usize> {
    words(stripped, word).next().map(|at| line_at(stripped, at))
}

/// Names declared as functions with `qualifier` (`__global__`, `__device__`), in order.
pub(in crate::device) fn functions(stripped: &str, qualifier: &str) -> Vec<String> {
    let mut names = Vec::new();
    for at in words(stripped, qualifier) {
        if let Some(name) = declared_name(&stripped[at + qualifier.len()..])
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    names
}

/// The identifier before the first parameter list after a qualifier; None for a variable.
fn declared_name(rest: &str) -> Option<String> {
    let bytes = rest.as_bytes();
    let mut at = 0;
    let mut last = None;
    while at < bytes.len() {
        match bytes[at] {
            b if is_word(b) => {
                let end = bytes[at..].iter().position(|b| !is_word(*b)).map_or(bytes.len(), |len| at + len);
                last = Some(&rest[at..end]);
                at = end;
            }
            b'(' => match last {
                Some(
                    "__launch_bounds__" | "__attribute__" | "__align__" | "alignas" | "__cluster_dims__"
                    | "__block_size__" | "noexcept" | "decltype",
                ) => {
                    at = skip_parentheses(bytes, at)?;
                    last = None;
                }
                found => return found.map(str::to_owned),
            },
            b';' | b'{' | b'}' | b'=' => return None,
            _ => at += 1,
        }
    }
    None
}

fn skip_parentheses(bytes: &[u8], open: usize) -> Option<usize> {
    let mut depth = 0;
    for (index, byte) in bytes.iter().enumerate().skip(open) {
        match byte {
            b'(' => depth += 1,
            b')' => {
                depth -= 1;
                if depth == 0 {
                    return Some(index + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// The plain function name in a name expression: `ns::rms_norm<float, 8>` gives `rms_norm`.
pub(in crate::device) fn base_name(expression: &str) -> &str {
    let head = expression.split('<').next().unwrap_or(expression).trim();
    head.rsplit("::").next().unwrap_or(head).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked_and_lines_stay() {
        let text = "a /* <<< \n */ b // asm\n\"x\\\"<<<\" c '\"' 1'000 d";
        let stripped = strip(text);
        assert!(!stripped.contains("<<<") && !stripped.contains("asm"));
        assert_eq!(stripped.len(), text.len());
        assert_eq!(line_of_word(&stripped, "b"), Some(2));
        assert_eq!(line_of_word(&stripped, "c"), Some(3));
        assert_eq!(line_of_word(&stripped, "d"), Some(3));
        assert_eq!(strip("/*"), "  ");
        assert_eq!(strip("\""), " ");
    }

    #[test]
    fn kernels_are_found_behind_attributes() {
        let text = "extern \"C\" __global__ void __launch_bounds__(256, 2)\nfoo(int a);\n\
                    template <int N> __global__ __launch_bounds__(N * (2)) void bar(float*);\n\
                    static __device__ float g[3]; __device__ int h(int x) { return x; } __global__ void foo(int);";
        assert_eq!(functions(text, "__global__"), ["foo", "bar"]);
        assert_eq!(functions(text, "__device__"), ["h"]);
        assert_eq!(base_name("ns::bar<float, 8>"), "bar");
        assert_eq!(base_name("foo"), "foo");
    }
}
