//! Lua values as JSON text and back. Keys are sorted; what JSON cannot hold is an error, never a silent `null`.

use std::fmt::Write as _;

use mlua::{Lua, LuaSerdeExt, Table, Value};
use serde_json::Value as Json;

use super::HostError;

/// Encodes a Lua value. A table is a list if it has only the keys 1..n (or came from [`decode`] as a list), an object
/// if it has only string keys; an empty table is an object unless it carries the list mark.
pub fn encode(lua: &Lua, value: &Value) -> Result<String, HostError> {
    let mut text = String::new();
    let mut encoder = Encoder { list_mark: lua.array_metatable(), open: Vec::new(), path: String::new() };
    encoder.write(&mut text, value)?;
    Ok(text)
}

/// Decodes JSON text. Lists carry a mark, so that an empty one stays a list; `null` becomes `popcorn.null`.
pub fn decode(lua: &Lua, text: &str) -> Result<Value, HostError> {
    let json: Json = serde_json::from_str(text).map_err(|e| HostError::script(format!("not JSON: {e}")))?;
    decode_value(lua, &json)
}

/// As [`decode`], for JSON that is parsed already.
pub fn decode_value(lua: &Lua, json: &Json) -> Result<Value, HostError> {
    Ok(lua.to_value(json)?)
}

struct Encoder {
    list_mark: Table,
    /// Tables that are being written now; meeting one again is a cycle. A table used twice is not.
    open: Vec<*const std::ffi::c_void>,
    path: String,
}

impl Encoder {
    fn fail(&self, what: impl std::fmt::Display) -> HostError {
        let path = if self.path.is_empty() { "the value" } else { self.path.trim_start_matches('.') };
        HostError::script(format!("JSON cannot hold {path}: {what}"))
    }

    fn write(&mut self, out: &mut String, value: &Value) -> Result<(), HostError> {
        match value {
            value if value.is_null() || value.is_nil() => out.push_str("null"),
            Value::Boolean(value) => out.push_str(if *value { "true" } else { "false" }),
            Value::Integer(value) => {
                let _ = write!(out, "{value}");
            }
            Value::Number(value) if value.is_finite() => out.push_str(&Json::from(*value).to_string()),
            Value::Number(value) => {
                return Err(self.fail(format_args!("it is {value}; write a string or leave it out")));
            }
            Value::String(value) => {
                let text = value.to_str().map_err(|_| self.fail("a string that is not UTF-8"))?;
                out.push_str(&Json::from(text.as_ref()).to_string());
            }
            Value::Table(table) => self.table(out, table)?,
            other => return Err(self.fail(format_args!("a {}", other.type_name()))),
        }
        Ok(())
    }

    fn table(&mut self, out: &mut String, table: &Table) -> Result<(), HostError> {
        if self.open.contains(&table.to_pointer()) {
            return Err(self.fail("a table that contains itself"));
        }
        self.open.push(table.to_pointer());
        let mut names = Vec::new();
        let mut indices = 0;
        for pair in table.pairs::<Value, Value>() {
            match pair? {
                (Value::String(name), value) => {
                    let name = name.to_str().map_err(|_| self.fail("a key that is not UTF-8"))?.to_owned();
                    names.push((name, value));
                }
                (Value::Integer(index), _) if index >= 1 => indices += 1,
                (key, _) => return Err(self.fail(format_args!("a key of type {}", key.type_name()))),
            }
        }
        if indices > 0 && !names.is_empty() {
            return Err(self.fail("a table with both positions and names"));
        }
        let marked = table.metatable().is_some_and(|metatable| metatable == self.list_mark);
        if indices > 0 || (marked && names.is_empty()) {
            self.list(out, table, indices)?;
        } else {
            names.sort_by(|(a, _), (b, _)| a.cmp(b));
            out.push('{');
            for (i, (name, value)) in names.iter().enumerate() {
                let comma = if i == 0 { "" } else { "," };
                let _ = write!(out, "{comma}{}:", Json::from(name.as_str()));
                self.inside(format!(".{name}"), |encoder| encoder.write(out, value))?;
            }
            out.push('}');
        }
        self.open.pop();
        Ok(())
    }

    fn list(&mut self, out: &mut String, table: &Table, count: i64) -> Result<(), HostError> {
        out.push('[');
        for i in 1..=count {
            let value: Value = table.raw_get(i)?;
            if value.is_nil() {
                return Err(self.fail(format_args!("a list with a hole at [{i}]")));
            }
            if i > 1 {
                out.push(',');
            }
            self.inside(format!("[{i}]"), |encoder| encoder.write(out, &value))?;
        }
        out.push(']');
        Ok(())
    }

    fn inside<T>(&mut self, step: String, body: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        self.path.push_str(&step);
        let result = body(self);
        self.path.truncate(length);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(source: &str) -> Result<String, String> {
        let lua = Lua::new();
        let value = lua.load(source).eval().unwrap();
        encode(&lua, &value).map_err(|error| error.message)
    }

    #[test]
    fn keys_are_sorted_and_kinds_are_kept() {
        let source = "return { b = { 1, 2.5, 'x' }, a = true, c = {}, ['d\"'] = 1.0, e = 1e300, f = math.mininteger }";
        let text = r#"{"a":true,"b":[1,2.5,"x"],"c":{},"d\"":1.0,"e":1e+300,"f":-9223372036854775808}"#;
        assert_eq!(encoded(source).as_deref(), Ok(text));
    }

    /// Row 4 of the list of traps, and a table that is used twice (which is no cycle).
    #[test]
    fn what_json_cannot_hold_is_an_error_with_its_path() {
        let table = [
            ("return { a = { 1, 0/0 } }", "JSON cannot hold a[2]: it is"),
            ("return { x = math.huge }", "JSON cannot hold x: it is inf; write a string or leave it out"),
            ("return { 1, 2, x = 3 }", "a table with both positions and names"),
            ("return { 1, nil, 3 }", "a list with a hole at [2]"),
            ("return { f = print }", "JSON cannot hold f: a function"),
            ("return { [true] = 1 }", "a key of type boolean"),
            ("return '\\xff'", "JSON cannot hold the value: a string that is not UTF-8"),
            ("local t = {}; t.t = { t }; return t", "JSON cannot hold t[1]: a table that contains itself"),
        ];
        for (source, part) in table {
            let message = encoded(source).unwrap_err();
            assert!(message.contains(part), "{source}: {message}");
        }
        assert_eq!(encoded("local t = { 1 }; return { a = t, b = t }").as_deref(), Ok(r#"{"a":[1],"b":[1]}"#));
    }

    #[test]
    fn text_survives_a_round_trip() {
        let lua = Lua::new();
        let text = r#"{"a":[],"b":{},"c":null,"d":[1,1.5,"é"],"e":9007199254740993}"#;
        let value = decode(&lua, text).unwrap();
        assert_eq!(encode(&lua, &value).unwrap(), text);
        assert!(decode(&lua, "{").unwrap_err().message.starts_with("not JSON"));
    }
}
