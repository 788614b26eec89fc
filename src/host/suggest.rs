//! Nearest names, for messages about unknown ones.

/// The known name nearest to `name`, if it is near enough to be a slip of the finger.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    ranked(name, known).into_iter().next()
}

/// Up to `n` near names, nearest first.
pub fn nearest_few<'a>(name: &str, known: impl IntoIterator<Item = &'a str>, n: usize) -> Vec<&'a str> {
    let mut names = ranked(name, known);
    names.truncate(n);
    names
}

/// `; did you mean 'x'?`, or nothing.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known).map(|near| format!("; did you mean '{near}'?")).unwrap_or_default()
}

/// A third of the longer word may differ (transpositions count once); a name that contains the other is near too.
fn ranked<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let lower = name.to_lowercase();
    let mut near: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|other| {
            let distance = strsim::osa_distance(&lower, &other.to_lowercase());
            let limit = lower.len().max(other.len()) / 3;
            let contains = lower.len() >= 3 && (other.contains(&lower) || (other.len() >= 3 && lower.contains(other)));
            (distance <= limit || contains).then_some((distance, other))
        })
        .collect();
    near.sort();
    near.into_iter().map(|(_, other)| other).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_matched_and_strangers_are_not() {
        let ops = ["rms_norm", "layer_norm", "add_rms_norm", "softmax", "gelu", "geglu"];
        assert_eq!(nearest("rmsnorm", ops), Some("rms_norm"));
        assert_eq!(nearest("RMS_norm", ops), Some("rms_norm"));
        assert_eq!(nearest("sfotmax", ops), Some("softmax"));
        assert_eq!(nearest("conv2d", ops), None);
        assert_eq!(nearest_few("norm", ops, 2), ["rms_norm", "layer_norm"]);
        assert_eq!(nearest("", ops), None);
        assert_eq!(did_you_mean("sumary", ["summary"]), "; did you mean 'summary'?");
    }
}
