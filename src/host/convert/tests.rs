use std::collections::BTreeMap;

use mlua::Lua;
use serde::Deserialize;

use super::*;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    rel: f64,
    #[serde(default)]
    name: Option<String>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Plain,
    Sized(u32),
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    summary: String,
    tol: Vec<Row>,
    #[serde(default)]
    count: i64,
    #[serde(default)]
    flag: bool,
    #[serde(default)]
    map: BTreeMap<String, u32>,
    #[serde(default)]
    kind: Option<Kind>,
}

fn convert<T: serde::de::DeserializeOwned>(source: &str) -> Result<T, String> {
    let lua = Lua::new();
    let value = lua.load(format!("return {source}")).eval::<Value>().unwrap();
    from_lua(&value, "ops/x.lua").map_err(|error| error.message)
}

#[test]
fn a_right_table_converts() {
    let table: Table =
        convert("{ summary = 's', tol = { { rel = 1 }, { rel = 0.5, name = 'b' } }, flag = true }").unwrap();
    assert_eq!(table.tol, [Row { rel: 1.0, name: None }, Row { rel: 0.5, name: Some("b".into()) }]);
    assert!(table.flag);
    assert_eq!(convert::<Kind>("'plain'"), Ok(Kind::Plain));
    assert_eq!(convert::<Kind>("{ sized = 3 }"), Ok(Kind::Sized(3)));
    assert_eq!(convert::<Vec<i64>>("{}"), Ok(vec![]));
    assert_eq!(convert::<(i64, String)>("{ 1, 'a' }"), Ok((1, "a".into())));
}

/// Rows 1 to 4 of the list of traps: paths count from 1, a table with names is no list, nothing is coerced, and an
/// unknown key is an error with the nearest known one.
#[test]
fn wrong_tables_name_path_value_and_next_step() {
    let table = [
        (
            "{ summary = 's', tol = { { rel = 1 }, { rel = 'a' } } }",
            "ops/x.lua: tol[2].rel: expected a number, got string \"a\"",
        ),
        ("{ sumary = 's', tol = {} }", "ops/x.lua: unknown key 'sumary'; did you mean 'summary'?"),
        (
            "{ summary = 's', tol = { { rel = 1, nam = 'x' } } }",
            "ops/x.lua: tol[1]: unknown key 'nam'; did you mean 'name'?",
        ),
        (
            "{ summary = 's', tol = {}, zzz = 1 }",
            "ops/x.lua: unknown key 'zzz'; known: summary tol count flag map kind",
        ),
        ("{ summary = 's' }", "ops/x.lua: missing key 'tol'"),
        ("{ summary = 's', tol = { x = 1 } }", "ops/x.lua: tol: expected a list, got a table with the key 'x'"),
        (
            "{ summary = 's', tol = { {rel=1}, {rel=2}, x = 3 } }",
            "ops/x.lua: tol: expected a list, got a table with the key 'x'",
        ),
        (
            "{ summary = 's', tol = { {rel=1}, nil, {rel=2} } }",
            "ops/x.lua: tol: expected a list, got a table without [2] but with [3]",
        ),
        ("{ summary = 's', tol = { [0] = {rel=1} } }", "ops/x.lua: tol: expected a list, got a table with the key [0]"),
        (
            "{ summary = 's', tol = { [1.5] = {rel=1} } }",
            "ops/x.lua: tol: expected a list, got a table with the key [1.5]",
        ),
        ("{ summary = 's', tol = 'none' }", "ops/x.lua: tol: expected a list, got string \"none\""),
        ("{ summary = 5, tol = {} }", "ops/x.lua: summary: expected a string, got integer 5"),
        ("{ summary = 's', tol = {}, count = '5' }", "ops/x.lua: count: expected an integer, got string \"5\""),
        ("{ summary = 's', tol = {}, count = 1.0 }", "ops/x.lua: count: expected an integer, got number 1.0"),
        ("{ summary = 's', tol = {}, flag = 1 }", "ops/x.lua: flag: expected a boolean, got integer 1"),
        ("{ summary = 's', tol = {}, flag = 'yes' }", "ops/x.lua: flag: expected a boolean, got string \"yes\""),
        (
            "{ summary = 's', tol = {}, map = { a = -1 } }",
            "ops/x.lua: map.a: expected a whole number of at least 0, got integer -1",
        ),
        (
            "{ summary = 's', tol = {}, map = { ['a b'] = 'x' } }",
            "ops/x.lua: map[\"a b\"]: expected a whole number of at least 0, got string \"x\"",
        ),
        ("{ summary = 's', tol = {}, map = { [print] = 1 } }", "ops/x.lua: map: unknown key of type function"),
        ("{ summary = 's', tol = {}, kind = 'plane' }", "ops/x.lua: kind: unknown value 'plane'; one of: plain sized"),
        ("{ summary = 's', tol = {}, kind = 'sized' }", "ops/x.lua: kind: 'sized' needs a value: { sized = … }"),
        ("{ summary = print, tol = {} }", "ops/x.lua: summary: expected a string, got a function"),
        ("{ summary = '\\xff', tol = {} }", "ops/x.lua: summary: a string that is not UTF-8"),
        ("7", "ops/x.lua: expected a table, got integer 7"),
        ("nil", "ops/x.lua: expected a table, got nil"),
    ];
    for (source, message) in table {
        assert_eq!(convert::<Table>(source).unwrap_err(), message, "{source}");
    }
    let message = convert::<(i64, i64)>("{ 1, 2, 3 }").unwrap_err();
    assert_eq!(message, "ops/x.lua: expected a list of 2, got 3 values");
}

#[test]
fn a_cyclic_table_is_an_error_and_not_a_stack_overflow() {
    #[derive(Debug, Deserialize)]
    struct Node {
        #[serde(rename = "next")]
        _next: Option<Box<Node>>,
    }
    let message = convert::<Node>("(function() local t = {}; t.next = t; return t end)()").unwrap_err();
    assert!(message.contains("perhaps in a cycle"), "{message}");
}

#[test]
fn functions_are_carried_beside_the_value() {
    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Op {
        reference: FunctionRef,
        returns: ListOrFunction<String>,
    }
    let lua = Lua::new();
    let eval = |source: &str| lua.load(source).eval::<Value>().unwrap();
    let both = eval("return { reference = function() return 7 end, returns = function() return 8 end }");
    let (op, functions) = from_lua_with_functions::<Op>(&both, "ops/x.lua").unwrap();
    assert_eq!(functions[op.reference.0].call::<i64>(()).unwrap(), 7);
    let ListOrFunction::Function(returns) = op.returns else { panic!("not a function") };
    assert_eq!(functions[returns.0].call::<i64>(()).unwrap(), 8);

    let list = eval("return { reference = function() end, returns = { 'a', 'b' } }");
    let (op, _) = from_lua_with_functions::<Op>(&list, "ops/x.lua").unwrap();
    assert_eq!(op.returns, ListOrFunction::List(vec!["a".into(), "b".into()]));

    let message = |source| from_lua_with_functions::<Op>(&eval(source), "ops/x.lua").unwrap_err().message;
    assert_eq!(
        message("return { reference = 3, returns = {} }"),
        "ops/x.lua: reference: expected a function, got integer 3"
    );
    assert_eq!(
        message("return { reference = print, returns = 'x' }"),
        "ops/x.lua: returns: expected a list or a function, got string \"x\""
    );
    assert_eq!(
        message("return { reference = print, returns = { 1 } }"),
        "ops/x.lua: returns[1]: expected a string, got integer 1"
    );
}

#[test]
fn rust_values_reach_lua_without_null() {
    let lua = Lua::new();
    let value = to_lua(&lua, &serde_json::json!({ "a": null, "b": [1, 2], "c": { "d": true } })).unwrap();
    lua.globals().set("v", value).unwrap();
    let check = "return v.a == nil and #v.b == 2 and v.c.d == true";
    assert!(lua.load(check).eval::<bool>().unwrap());
}
