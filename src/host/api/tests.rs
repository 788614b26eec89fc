//! The editor stubs in `scripts/types/` and the live API say the same, both ways.

use std::collections::BTreeSet;
use std::path::Path;

use mlua::Value;

use super::{candidate, case, experiment, op, rng};
use crate::host::{Host, Settings, Workspace};

/// Modules whose stub is rendered and tested beside their code.
const RENDERED: [&str; 1] = ["tensor"];

fn host() -> (tempfile::TempDir, Host) {
    let cache = tempfile::tempdir().unwrap();
    let workspace = Workspace::discover(Path::new(env!("CARGO_MANIFEST_DIR")), cache.path());
    let host = Host::new(workspace, Settings::default()).unwrap();
    (cache, host)
}

fn stub(module: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("scripts/types/{module}.lua"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Names that a stub declares below `prefix` (`popcorn.json.` or `Op:`), as functions or as values.
fn declared(text: &str, prefix: &str) -> BTreeSet<String> {
    let names = text.lines().filter_map(|line| {
        let rest = line.strip_prefix("function ").unwrap_or(line).strip_prefix(prefix)?;
        Some(rest.split(['(', ' ', '=']).next()?.to_owned())
    });
    names.collect()
}

/// `---@field` names of one class of a stub.
fn fields(text: &str, class: &str) -> BTreeSet<String> {
    let lines = text.lines().skip_while(|line| line.trim_end() != format!("---@class {class}")).skip(1);
    let fields = lines.take_while(|line| line.starts_with("---@field "));
    fields.map(|line| line.split_whitespace().nth(1).unwrap().to_owned()).collect()
}

fn names(list: &[&str]) -> BTreeSet<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn every_function_has_a_stub_and_every_stub_a_function() {
    let (_cache, host) = host();
    let names = "local t = {}; for k in pairs(...) do t[#t + 1] = k end; return t";
    let names = |table: Value| -> BTreeSet<String> {
        host.lua().load(names).call::<Vec<String>>(table).unwrap().into_iter().collect()
    };
    let popcorn: mlua::Table = host.lua().globals().get("popcorn").unwrap();
    let mut values = BTreeSet::new();
    for name in names(Value::Table(popcorn.clone())) {
        match popcorn.get::<Value>(name.as_str()).unwrap() {
            Value::Table(_) if RENDERED.contains(&name.as_str()) => {}
            module @ Value::Table(_) => {
                assert_eq!(declared(&stub(&name), &format!("popcorn.{name}.")), names(module), "popcorn.{name}");
            }
            _ => {
                values.insert(name);
            }
        }
    }
    assert_eq!(declared(&stub("popcorn"), "popcorn."), values);
}

#[test]
fn every_field_and_method_of_an_object_has_a_stub() {
    assert_eq!(fields(&stub("case"), "Case"), names(&case::FIELDS));
    assert_eq!(fields(&stub("op"), "Op"), names(&op::FIELDS));
    assert_eq!(declared(&stub("op"), "Op:"), names(&op::METHODS));
    assert_eq!(declared(&stub("rng"), "Rng:"), names(&rng::METHODS));
    assert_eq!(fields(&stub("candidate"), "Candidate"), names(&candidate::FIELDS));
    assert_eq!(declared(&stub("candidate"), "Candidate:"), names(&candidate::METHODS));
    assert_eq!(declared(&stub("experiment"), "Draws:"), names(&experiment::DRAWS_METHODS));
    assert_eq!(declared(&stub("experiment"), "Plan:"), names(&experiment::PLAN_METHODS));
    assert_eq!(fields(&stub("experiment"), "Run"), names(&experiment::RUN_FIELDS));
}

/// The lists that the stubs are held against name what the objects really have.
#[test]
fn the_lists_of_fields_and_methods_are_those_of_the_objects() {
    let (_cache, host) = host();
    let lua = host.lua();
    lua.globals().raw_set("op_names", [&op::FIELDS[..], &op::METHODS[..]].concat()).unwrap();
    lua.globals().raw_set("case_names", &case::FIELDS[..]).unwrap();
    let check = r#"
        local op = popcorn.op.load("rms_norm")
        local case = op:case("normalized_shape=8,float32")
        for _, name in ipairs(op_names) do assert(op[name] ~= nil, name) end
        for _, name in ipairs(case_names) do assert(case[name] ~= nil, name) end
        local _, err = popcorn.try(function() return op.nam end)
        assert(err.message:find("an op has no field 'nam'; did you mean 'name'?", 1, true), err.message)
        _, err = popcorn.try(function() return case.dim end)
        assert(err.message:find("a case has no field 'dim'; did you mean 'dims'?", 1, true), err.message)
        assert(tostring(case) == "normalized_shape=8,batch=(),float32,eps=1e-06")
        assert(case == op:case { dims = { normalized_shape = 8 }, dtype = "float32" })
        assert(popcorn.case.sample_id { case } ~= popcorn.case.sample_id { case, case })
    "#;
    lua.load(check).set_name("@check").exec().unwrap();
}

#[test]
fn expected_failures_are_values_with_their_kind() {
    let (_cache, host) = host();
    let check = r#"
        local value, err = popcorn.try(popcorn.op.load, "rms_nrom")
        assert(value == nil and err.kind == "usage" and err.message:find("did you mean rms_norm"), err.message)
        value, err = popcorn.try(error, "boom")
        assert(value == nil and err.kind == "script" and err.message == "boom", err.message)
        value, err = popcorn.try(popcorn.safetensors.read, "/none")
        assert(err.kind == "environment" and err.message:find("^/none: cannot read"), err.message)
        local a, b = popcorn.try(function(...) return ... end, 1, nil)
        assert(a == 1 and b == nil)
        local op = popcorn.op.load("rope")
        local case, reason = op:try_case { dims = { batch = 2, q_heads = 1, kv_heads = 1, seq = 2, head_dim = 3, cos_batch = 1 }, dtype = "float32" }
        assert(case == nil and reason:find("head_dim must be even"), reason)
    "#;
    host.lua().load(check).set_name("@check").exec().unwrap();
}
