//! `popcorn.case`: cases as values, and the name of a sample.

use mlua::{FromLua, Lua, MetaMethod, MultiValue, Table, UserData, UserDataFields, UserDataMethods, Value};

use super::arguments::exactly;
use crate::case::{case_id, sample_id};
use crate::host::{HostError, did_you_mean, to_lua};
use crate::model::Case;

pub(super) fn install(lua: &Lua, popcorn: &Table) -> mlua::Result<()> {
    let module = lua.create_table()?;
    module.set(
        "sample_id",
        lua.create_function(|_, args: MultiValue| {
            let [cases] = exactly("popcorn.case.sample_id", args)?;
            let Value::Table(cases) = cases else {
                return Err(HostError::script("popcorn.case.sample_id: expected a list of cases").into());
            };
            let cases = cases.sequence_values::<LuaCase>().map(|case| case.map(|case| case.0));
            Ok(sample_id(&cases.collect::<mlua::Result<Vec<_>>>()?))
        })?,
    )?;
    popcorn.set("case", module)
}

/// A checked case. Read-only; `tostring` gives its text form.
#[derive(Clone, Debug, PartialEq)]
pub struct LuaCase(pub Case);

/// Fields, for messages and the check of the stubs.
pub(crate) const FIELDS: [&str; 7] = ["args", "batch", "dims", "dtype", "id", "present", "text"];

impl FromLua for LuaCase {
    fn from_lua(value: Value, _: &Lua) -> mlua::Result<Self> {
        match value.as_userdata().and_then(|userdata| userdata.borrow::<Self>().ok()) {
            Some(case) => Ok(case.clone()),
            None => Err(HostError::script(format!("expected a case (from op:case), got {}", value.type_name())).into()),
        }
    }
}

impl UserData for LuaCase {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("id", |_, case| Ok(case_id(&case.0)));
        fields.add_field_method_get("text", |_, case| Ok(case.0.to_string()));
        fields.add_field_method_get("dims", |lua, case| Ok(to_lua(lua, &case.0.dims)?));
        fields.add_field_method_get("batch", |lua, case| Ok(to_lua(lua, &case.0.batch)?));
        fields.add_field_method_get("dtype", |_, case| Ok(case.0.dtype.name()));
        fields.add_field_method_get("args", |lua, case| Ok(to_lua(lua, &case.0.args)?));
        fields.add_field_method_get("present", |lua, case| Ok(to_lua(lua, &case.0.present)?));
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::ToString, |_, case, ()| Ok(case.0.to_string()));
        methods.add_meta_method(MetaMethod::Eq, |_, case, other: Self| Ok(*case == other));
        methods.add_meta_method(MetaMethod::Index, |_, _, key: Value| unknown_field("a case", &key, &FIELDS));
    }
}

/// Reading an unknown field of an object is an error, not nil.
pub(super) fn unknown_field(what: &str, key: &Value, known: &[&str]) -> mlua::Result<Value> {
    let key = key.to_string()?;
    let near = did_you_mean(&key, known.iter().copied());
    Err(HostError::script(format!("{what} has no field '{key}'{near}")).into())
}
