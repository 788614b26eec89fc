//! The editor stub, rendered from the op table. Run `POPCORN_BLESS=1 cargo test stub` to rewrite it.

use super::op::{FIELDS, Op, all_ops};

const STUB: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/types/tensor.lua");
const HEADER: &str = "\
---@meta
-- PyTorch's names, 0-based dims, eager, differentiable. Rendered from the op table by its test.

---@alias tensor.DType \"float64\"|\"float32\"|\"float16\"|\"bfloat16\"|\"int64\"|\"int32\"|\"int8\"|\"bool\"

---@class tensor.Options
---@field dtype? tensor.DType

";

fn render() -> String {
    let mut text = HEADER.to_owned();
    text += "---@class Tensor\n";
    for (name, kind, doc) in FIELDS {
        text += &format!("---@field {name} {kind} {doc}\n");
    }
    for operator in ["add", "sub", "mul", "div", "idiv", "mod", "pow"] {
        text += &format!("---@operator {operator}(Tensor|number): Tensor\n");
    }
    text += "---@operator unm: Tensor\nlocal Tensor = {}\n\ntensor = {}\n";
    for op in all_ops() {
        text += &entry(op, false);
        if op.is_method() {
            text += &entry(op, true);
        }
    }
    text
}

fn entry(op: &Op, method: bool) -> String {
    let (parameters, returns) = op.signature.split_once(" -> ").unwrap_or((op.signature, "Tensor"));
    let mut text = format!("\n---{}\n", op.doc);
    let mut names = Vec::new();
    for parameter in split_parameters(parameters) {
        let (name, kind) = parameter.split_once(": ").expect("a parameter is `name: type`");
        if method && name == "self" {
            continue;
        }
        text += &format!("---@param {name} {kind}\n");
        names.push(name.trim_end_matches('?'));
    }
    for returned in returns.split(", ") {
        text += &format!("---@return {returned}\n");
    }
    let owner = if method { "Tensor:" } else { "tensor." };
    text + &format!("function {owner}{}({}) end\n", op.name, names.join(", "))
}

/// Splits at commas outside braces.
fn split_parameters(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

#[test]
fn stub_file_is_what_the_op_table_renders() {
    let rendered = render();
    let mut written = std::fs::read_to_string(STUB).unwrap_or_default();
    if written != rendered && std::env::var_os("POPCORN_BLESS").is_some() {
        std::fs::write(STUB, &rendered).expect("the stub is writable");
        written.clone_from(&rendered);
    }
    assert!(written == rendered, "scripts/types/tensor.lua is stale; run POPCORN_BLESS=1 cargo test stub");
}

#[test]
fn live_names_and_stub_agree_both_ways() {
    let lua = mlua::Lua::new();
    super::install(&lua, &lua.create_table().expect("a table")).expect("installs");
    let stub = std::fs::read_to_string(STUB).expect("the stub exists");
    let documented = |owner: &str| -> Vec<String> {
        let names = stub.lines().filter_map(|line| line.strip_prefix("function ")?.strip_prefix(owner));
        names.filter_map(|rest| Some(rest.split_once('(')?.0.to_owned())).collect()
    };
    let mut live: Vec<String> = Vec::new();
    let module: mlua::Table = lua.globals().raw_get("tensor").expect("the module");
    for pair in module.pairs::<String, mlua::Function>() {
        live.push(pair.expect("functions by name").0);
    }
    let sorted = |mut names: Vec<String>| {
        names.sort();
        names
    };
    assert_eq!(sorted(live), sorted(documented("tensor.")));
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(sorted(owned(super::method_names())), sorted(documented("Tensor:")));
    for name in documented("Tensor:") {
        let found = lua.load(format!("return type(tensor.zeros(1).{name})")).eval::<String>();
        assert_eq!(found.expect("a method"), "function", "{name}");
    }
}
