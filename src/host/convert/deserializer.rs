//! A serde deserializer over Lua values that refuses whatever it would have to guess.

use std::cell::RefCell;

use mlua::{Function, Table, Value};
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, Unexpected, VariantAccess, Visitor};
use serde::de::{Error as _, IntoDeserializer};
use serde::forward_to_deserialize_any;

use super::error::{ConvertError, Step};
use super::{FUNCTION, LIST_OR_FUNCTION};

/// Deeper tables are refused: no typed value of ours is deeper, and a cyclic table would never end.
const MAX_DEPTH: usize = 64;

#[derive(Clone, Copy)]
pub(super) struct LuaDeserializer<'a> {
    value: &'a Value,
    functions: Option<&'a RefCell<Vec<Function>>>,
    depth: usize,
}

impl<'a> LuaDeserializer<'a> {
    pub(super) fn new(value: &'a Value, functions: Option<&'a RefCell<Vec<Function>>>) -> Self {
        Self { value, functions, depth: 0 }
    }

    fn inner(self, value: &'a Value) -> LuaDeserializer<'a> {
        LuaDeserializer { value, functions: self.functions, depth: self.depth + 1 }
    }

    fn table(self, expected: &dyn serde::de::Expected) -> Result<&'a Table, ConvertError> {
        match self.value {
            Value::Table(_) if self.depth > MAX_DEPTH => {
                Err(ConvertError::new(format!("tables are nested more than {MAX_DEPTH} deep, perhaps in a cycle")))
            }
            Value::Table(table) => Ok(table),
            _ => Err(self.mismatch(expected)),
        }
    }

    fn mismatch(self, expected: &dyn serde::de::Expected) -> ConvertError {
        let text;
        let found = match self.value {
            Value::Boolean(value) => Unexpected::Bool(*value),
            Value::Integer(value) => Unexpected::Signed(*value),
            Value::Number(value) => Unexpected::Float(*value),
            Value::String(value) => {
                text = value.to_string_lossy();
                Unexpected::Str(&text)
            }
            Value::Table(_) => Unexpected::Map,
            value if value.is_nil() || value.is_null() => Unexpected::Unit,
            value => {
                text = format!("a {}", value.type_name());
                Unexpected::Other(&text)
            }
        };
        ConvertError::invalid_type(found, expected)
    }

    fn function<'de, V: Visitor<'de>>(self, function: &Function, visitor: V) -> Result<V::Value, ConvertError> {
        let Some(functions) = self.functions else { return Err(self.mismatch(&visitor)) };
        functions.borrow_mut().push(function.clone());
        visitor.visit_u64(functions.borrow().len() as u64 - 1)
    }
}

/// The values of a list. A key outside `1..n`, or a hole, is an error: such a table is not a list.
fn list_values(table: &Table) -> Result<Vec<Value>, ConvertError> {
    let mut count = 0;
    let mut last = 0;
    for pair in table.pairs::<Value, Value>() {
        let (key, _) = pair.map_err(ConvertError::custom)?;
        match key {
            Value::Integer(index) if index >= 1 => {
                count += 1;
                last = last.max(index);
            }
            key => return Err(ConvertError::new(format!("expected a list, got a table with the key {}", show(&key)))),
        }
    }
    if count != last {
        let hole = (1..=last).find(|&i| table.raw_get::<Value>(i).map_or(true, |value| value.is_nil())).unwrap_or(1);
        return Err(ConvertError::new(format!("expected a list, got a table without [{hole}] but with [{last}]")));
    }
    (1..=last).map(|i| table.raw_get(i).map_err(ConvertError::custom)).collect()
}

/// Pairs of a table in a fixed order: positions first, then names sorted.
fn sorted_pairs(table: &Table) -> Result<Vec<(Step, Value)>, ConvertError> {
    let mut pairs = Vec::new();
    for pair in table.pairs::<Value, Value>() {
        let (key, value) = pair.map_err(ConvertError::custom)?;
        let step = match &key {
            Value::Integer(index) => Step::Index(*index),
            Value::String(name) => match name.to_str() {
                Ok(name) => Step::Key(name.to_owned()),
                Err(_) => return Err(ConvertError::new("a key that is not UTF-8")),
            },
            key => return Err(ConvertError::new(format!("unknown key {}", show(key)))),
        };
        pairs.push((step, value));
    }
    pairs.sort_by(|(a, _), (b, _)| match (a, b) {
        (Step::Index(a), Step::Index(b)) => a.cmp(b),
        (Step::Key(a), Step::Key(b)) => a.cmp(b),
        (Step::Index(_), Step::Key(_)) => std::cmp::Ordering::Less,
        (Step::Key(_), Step::Index(_)) => std::cmp::Ordering::Greater,
    });
    Ok(pairs)
}

fn show(key: &Value) -> String {
    match key {
        Value::String(name) => format!("'{}'", name.to_string_lossy()),
        Value::Integer(index) => format!("[{index}]"),
        Value::Number(number) => format!("[{number}]"),
        key => format!("of type {}", key.type_name()),
    }
}

impl<'de> Deserializer<'de> for LuaDeserializer<'_> {
    type Error = ConvertError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConvertError> {
        match self.value {
            Value::Boolean(value) => visitor.visit_bool(*value),
            Value::Integer(value) => visitor.visit_i64(*value),
            Value::Number(value) => visitor.visit_f64(*value),
            Value::String(value) => match value.to_str() {
                Ok(text) => visitor.visit_str(&text),
                Err(_) => Err(ConvertError::new("a string that is not UTF-8")),
            },
            Value::Table(table) if table.raw_len() > 0 => self.deserialize_seq(visitor),
            Value::Table(_) => self.deserialize_map(visitor),
            value if value.is_nil() || value.is_null() => visitor.visit_unit(),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConvertError> {
        if self.value.is_nil() || self.value.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConvertError> {
        let values = list_values(self.table(&visitor)?)?;
        let mut list = List { parent: self, values: &values, next: 0 };
        let result = visitor.visit_seq(&mut list)?;
        let (seen, all) = (list.next, values.len());
        if seen < all {
            return Err(ConvertError::new(format!("expected a list of {seen}, got {all} values")));
        }
        Ok(result)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConvertError> {
        let pairs = sorted_pairs(self.table(&visitor)?)?;
        visitor.visit_map(Pairs { parent: self, pairs: &pairs, next: 0 })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ConvertError> {
        self.deserialize_map(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, ConvertError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, ConvertError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ConvertError> {
        match (name, self.value) {
            (FUNCTION | LIST_OR_FUNCTION, Value::Function(function)) => self.function(function, visitor),
            (FUNCTION, _) => Err(self.mismatch(&visitor)),
            (LIST_OR_FUNCTION, Value::Table(_)) => visitor.visit_newtype_struct(self),
            (LIST_OR_FUNCTION, _) => Err(self.mismatch(&visitor)),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ConvertError> {
        match self.value {
            Value::String(_) => visitor.visit_enum(Variant { parent: self, name: self.value, content: None }),
            Value::Table(table) => {
                let mut pairs = table.pairs::<Value, Value>();
                match (pairs.next(), pairs.next()) {
                    (Some(Ok((name @ Value::String(_), content))), None) => {
                        visitor.visit_enum(Variant { parent: self, name: &name, content: Some(&content) })
                    }
                    _ => Err(ConvertError::new("expected a string, or a table with exactly one named value")),
                }
            }
            _ => Err(self.mismatch(&"a string")),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        identifier ignored_any
    }
}

struct List<'a> {
    parent: LuaDeserializer<'a>,
    values: &'a [Value],
    next: usize,
}

impl<'de> SeqAccess<'de> for &mut List<'_> {
    type Error = ConvertError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, ConvertError> {
        let Some(value) = self.values.get(self.next) else { return Ok(None) };
        self.next += 1;
        let step = Step::Index(self.next as i64);
        seed.deserialize(self.parent.inner(value)).map(Some).map_err(|error| error.inside(step))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.values.len() - self.next)
    }
}

struct Pairs<'a> {
    parent: LuaDeserializer<'a>,
    pairs: &'a [(Step, Value)],
    next: usize,
}

impl<'de> MapAccess<'de> for Pairs<'_> {
    type Error = ConvertError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, ConvertError> {
        match self.pairs.get(self.next) {
            None => Ok(None),
            Some((Step::Key(name), _)) => seed.deserialize(name.as_str().into_deserializer()).map(Some),
            Some((Step::Index(index), _)) => seed.deserialize(index.to_string().into_deserializer()).map(Some),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, ConvertError> {
        let Some((step, value)) = self.pairs.get(self.next) else {
            return Err(ConvertError::new("a value was asked for without its key"));
        };
        self.next += 1;
        seed.deserialize(self.parent.inner(value)).map_err(|error| error.inside(step.clone()))
    }
}

struct Variant<'a> {
    parent: LuaDeserializer<'a>,
    name: &'a Value,
    content: Option<&'a Value>,
}

impl<'a, 'de> EnumAccess<'de> for Variant<'a> {
    type Error = ConvertError;
    type Variant = Content<'a>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Content<'a>), ConvertError> {
        let variant = seed.deserialize(self.parent.inner(self.name))?;
        let content = self.content.map(|content| self.parent.inner(content));
        Ok((variant, Content { content, name: self.name.to_string().unwrap_or_default() }))
    }
}

struct Content<'a> {
    content: Option<LuaDeserializer<'a>>,
    name: String,
}

impl<'a> Content<'a> {
    fn present(self) -> Result<(LuaDeserializer<'a>, Step), ConvertError> {
        let Some(content) = self.content else {
            return Err(ConvertError::new(format!("'{}' needs a value: {{ {} = … }}", self.name, self.name)));
        };
        Ok((content, Step::Key(self.name)))
    }
}

impl<'de> VariantAccess<'de> for Content<'_> {
    type Error = ConvertError;

    fn unit_variant(self) -> Result<(), ConvertError> {
        match self.content {
            None => Ok(()),
            Some(_) => Err(ConvertError::new(format!("'{}' takes no value", self.name))),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, ConvertError> {
        let (content, step) = self.present()?;
        seed.deserialize(content).map_err(|error| error.inside(step))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, ConvertError> {
        let (content, step) = self.present()?;
        content.deserialize_seq(visitor).map_err(|error| error.inside(step))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ConvertError> {
        let (content, step) = self.present()?;
        content.deserialize_map(visitor).map_err(|error| error.inside(step))
    }
}
