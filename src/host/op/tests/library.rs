//! The op files that popcorn ships, their sample, and the golden vectors.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::json;

use super::*;
use crate::host::{exit_code, from_lua};

fn shipped() -> (tempfile::TempDir, Host) {
    let cache = tempfile::tempdir().unwrap();
    let workspace = Workspace::discover(Path::new(env!("CARGO_MANIFEST_DIR")), cache.path());
    (cache, Host::new(workspace, Settings::default()).unwrap())
}

/// The text of the default sample's cases.
fn sample(host: &Host, op: &str, n: usize) -> Vec<String> {
    let source = "local op, n = ...\n\
                  local device = { kind = 'cpu', memory_bytes = 8 << 30 }\n\
                  local texts = {}\n\
                  local cases = require('scripts.samplers.default')(popcorn.op.load(op), n, device)\n\
                  for i, case in ipairs(cases) do texts[i] = case.text end\n\
                  return texts";
    let texts = host.lua().load(source).set_name("@sample").call((op, n)).unwrap();
    from_lua(&texts, "sample").unwrap()
}

#[test]
fn every_shipped_op_loads_and_passes_its_own_check() {
    let (_cache, host) = shipped();
    let result = host.run_script("scripts/op/check.lua", &json!({ "all": true, "json": true })).unwrap();
    assert_eq!(exit_code(&result), Ok(0));
}

#[test]
fn every_shipped_op_agrees_with_the_golden_vectors() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/golden");
    if !folder.is_dir() {
        eprintln!("skipped: no golden vectors at {}", folder.display());
        return;
    }
    let (_cache, host) = shipped();
    let args = json!({ "all": true, "against": folder, "json": true });
    assert_eq!(exit_code(&host.run_script("scripts/op/check.lua", &args).unwrap()), Ok(0));
}

#[test]
fn golden_vectors_that_are_wrong_fail_the_check() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/golden");
    if !folder.is_dir() {
        eprintln!("skipped: no golden vectors at {}", folder.display());
        return;
    }
    // One bit of one output, far above the bound.
    let mut bytes = fs::read(folder.join("softmax.safetensors")).unwrap();
    let (header, metadata) = safetensors::SafeTensors::read_metadata(&bytes).unwrap();
    let offset = 8 + header + metadata.info("0.out.0").unwrap().data_offsets.0;
    bytes[offset + 5] ^= 1;
    let (cache, host) = shipped();
    let file = cache.path().join("softmax.safetensors");
    fs::write(&file, bytes).unwrap();
    let check = |op: &str, file: &Path| {
        let args = json!({ "ops": [op], "against": file, "json": true });
        exit_code(&host.run_script("scripts/op/check.lua", &args).unwrap()).unwrap()
    };
    assert_eq!(check("softmax", &file), 1);
    assert_eq!(check("gelu", &file), 4);
    assert_eq!(check("softmxa", &file), 2);
    assert_eq!(check("softmax", &cache.path().join("none.safetensors")), 4);
}

#[test]
fn signatures_are_those_of_the_contracts() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/golden/contracts.json");
    let Ok(text) = fs::read_to_string(&path) else {
        eprintln!("skipped: no contracts at {}", path.display());
        return;
    };
    let contracts: serde_json::Value = serde_json::from_str(&text).unwrap();
    let (_cache, host) = shipped();
    for name in Op::names(&host).unwrap() {
        let op = Op::load(&host, &name).unwrap();
        let Some(contract) = contracts.get(&name) else { continue };
        let theirs: Vec<(String, String, bool)> = contract["specs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|spec| {
                let tokens: Vec<&str> =
                    spec["tokens"].as_array().unwrap().iter().map(|t| t.as_str().unwrap()).collect();
                (spec["param"].as_str().unwrap().into(), tokens.join(", "), spec["optional"].as_bool().unwrap())
            })
            .collect();
        let ours: Vec<(String, String, bool)> = op
            .spec
            .tensors()
            .map(|tensor| {
                let text = tensor.type_spec.to_string();
                let tokens = text.split_once('[').unwrap().1.trim_end_matches(']').to_owned();
                (tensor.name.clone(), tokens, tensor.optional)
            })
            .collect();
        assert_eq!(ours, theirs, "{name}");
        let pools = contract["arg_pools"].as_object().unwrap();
        assert_eq!(op.spec.scalars().count(), pools.len(), "{name}");
        for scalar in op.spec.scalars() {
            // The contracts spell a list as text.
            let plain = |value: &Scalar| match value {
                Scalar::Ints(_) => json!(value.to_string()),
                value => json!(value),
            };
            let values: Vec<serde_json::Value> = scalar.values.iter().map(plain).collect();
            assert_eq!(json!(values), pools[&scalar.name], "{name}.{}", scalar.name);
        }
        let structured: BTreeSet<&str> =
            contract["structured_inputs"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        // Integer inputs may be spread over their range here in ways of our own.
        let is_float = |name: &&str| op.spec.tensors().any(|t| t.name == **name && t.type_spec.element.is_float());
        let is_ours = |name: &&str| is_float(name) || structured.contains(name);
        let transforms = op.functions.inputs.keys().map(String::as_str).filter(is_ours).collect();
        assert_eq!(structured, transforms, "{name}");
    }
}

#[test]
fn samples_repeat_extend_and_spread() {
    let (_cache, host) = shipped();
    for name in Op::names(&host).unwrap() {
        let op = Op::load(&host, &name).unwrap();
        let four = sample(&host, &name, 4);
        assert_eq!(four, sample(&host, &name, 8)[..4], "{name}");
        let cases: Vec<Case> = four.iter().map(|text| op.parse_case(text).unwrap()).collect();
        let dtypes: BTreeSet<DType> = cases.iter().map(|case| case.dtype).collect();
        assert_eq!(dtypes.len(), 3, "{name}");
        let sizes: Vec<u64> =
            cases.iter().map(|case| op.input_metas(case).unwrap().iter().map(|meta| meta.numel()).sum()).collect();
        // Spread: the largest is at least 50 times the smallest; feasible: under a million elements in all.
        let (small, large) = (*sizes.iter().min().unwrap(), *sizes.iter().max().unwrap());
        assert!(large >= 50 * small && sizes.iter().sum::<u64>() < 1 << 20, "{name}: {sizes:?}");
        for scalar in op.spec.scalars() {
            let seen: BTreeSet<String> = cases.iter().map(|case| case.args[&scalar.name].to_string()).collect();
            // More than the pool has where the shape asks for other values, such as num_groups a divisor of channels.
            assert!(seen.len() >= scalar.values.len().min(4), "{name}.{}", scalar.name);
        }
        for tensor in op.spec.tensors().filter(|tensor| tensor.optional) {
            let present = cases.iter().filter(|case| case.present.contains(&tensor.name)).count();
            assert!((1..4).contains(&present), "{name}.{}", tensor.name);
        }
    }
}

#[test]
fn labels_reach_the_whole_range_and_the_ignored_index() {
    let (_cache, host) = shipped();
    let op = Op::load(&host, "cross_entropy").unwrap();
    let case = op.parse_case("tokens=4096,vocab=7,bfloat16").unwrap();
    let labels = op.draw(&case, 0).unwrap()[1].1.as_i64_vec();
    let seen: BTreeSet<i64> = labels.iter().copied().collect();
    assert_eq!(seen, [-100, 0, 1, 2, 3, 4, 5, 6].into());
    let ignored = labels.iter().filter(|&&label| label == -100).count();
    assert!((400..620).contains(&ignored), "{ignored}");
    for tokens in [1, 2, 3, 17] {
        let case = op.parse_case(&format!("tokens={tokens},vocab=9,float32")).unwrap();
        let labels = op.draw(&case, 3).unwrap()[1].1.as_i64_vec();
        assert!(labels[0] >= 0 && (tokens == 1 || labels[tokens - 1] == -100), "{labels:?}");
    }
}

#[test]
fn the_listing_and_the_page_of_an_op_run() {
    let (_cache, host) = shipped();
    for args in [json!({}), json!({ "json": true })] {
        assert_eq!(exit_code(&host.run_script("scripts/op/list.lua", &args).unwrap()), Ok(0));
    }
    for name in Op::names(&host).unwrap() {
        for args in [json!({ "op": name }), json!({ "op": name, "json": true })] {
            assert_eq!(exit_code(&host.run_script("scripts/op/show.lua", &args).unwrap()), Ok(0));
        }
    }
    let error = host.run_script("scripts/op/show.lua", &json!({ "op": "geluu" })).unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (HostErrorKind::Usage, "no op 'geluu'; did you mean gelu?"));
}
