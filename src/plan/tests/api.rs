//! The stub for editors and the live API name the same things.

use std::collections::BTreeSet;

use crate::plan::tensor::FIELDS;

const STUB: &str = include_str!("../../../scripts/types/gpu.lua");

/// Names that the stub gives to `owner`: functions, assignments, and the fields of `class`.
fn documented(owner: &str, class: &str) -> BTreeSet<String> {
    let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut names = BTreeSet::new();
    let mut inside = false;
    for line in STUB.lines() {
        match line.strip_prefix("---@class ") {
            Some(name) => inside = name == class,
            None if !line.starts_with("---") => inside = false,
            None => {}
        }
        let starts = [format!("function {owner}."), format!("function {owner}:"), format!("{owner}.")];
        names.extend(starts.iter().filter_map(|start| line.strip_prefix(start.as_str())).map(word));
        if let Some(field) = line.strip_prefix("---@field ").filter(|_| inside) {
            names.insert(word(field));
        }
    }
    names
}

fn live(expression: &str) -> BTreeSet<String> {
    let body = format!(
        "local names = {{}} for name in pairs({expression}) do names[#names + 1] = name end error(table.concat(names, ' '))"
    );
    let message = super::forward_error(&body);
    let names = message.split_once(": ").map_or("", |(_, names)| names);
    names.split(' ').map(str::to_owned).collect()
}

#[test]
fn gpu_is_documented_name_by_name() {
    assert_eq!(documented("gpu", "gpu"), live("gpu"));
}

#[test]
fn gpu_device_is_documented() {
    assert_eq!(documented("gpu.device", "gpu.Device"), live("gpu.device"));
}

#[test]
fn tensors_are_documented() {
    assert_eq!(documented("Tensor", "gpu.Tensor"), FIELDS.iter().map(|(name, _)| (*name).to_owned()).collect());
}

#[test]
fn launch_keys_are_documented() {
    let keys = BTreeSet::from(["grid", "block", "shared"].map(str::to_owned));
    let documented: BTreeSet<String> =
        documented("Launch", "gpu.Launch").into_iter().filter(|name| !name.is_empty()).collect();
    assert_eq!(documented, keys);
}
