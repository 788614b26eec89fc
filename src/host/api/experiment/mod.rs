//! The steps of an experiment, as functions of `popcorn`: draw, plan, launch, grade.
//!
//! Each returns its value, or nil and a fault `{ status, code, reason, detail }`: an experiment goes on with its next
//! case whatever happens to one.

mod draws;
mod grade;
mod launch;
mod plan;
mod settings;

#[cfg(test)]
pub(super) use {draws::METHODS as DRAWS_METHODS, launch::FIELDS as RUN_FIELDS, plan::METHODS as PLAN_METHODS};

use mlua::{IntoLua, Lua, MultiValue, Table, Value};

use crate::host::{HostError, HostErrorKind, to_lua};
use crate::model::{Fault, Status};

pub(super) fn install(lua: &Lua, popcorn: &Table) -> mlua::Result<()> {
    popcorn.set("draw", lua.create_function(draws::draw)?)?;
    popcorn.set("plan", lua.create_function(plan::plan)?)?;
    popcorn.set("launch", lua.create_function(launch::launch)?)?;
    popcorn.set("grade", lua.create_function(grade::grade)?)
}

/// A step's value, or nil and its fault.
fn value_or_fault(lua: &Lua, result: Result<impl IntoLua, Fault>) -> mlua::Result<MultiValue> {
    Ok(match result {
        Ok(value) => MultiValue::from_iter([value.into_lua(lua)?]),
        Err(fault) => MultiValue::from_iter([Value::Nil, to_lua(lua, &fault)?]),
    })
}

/// An op whose Lua fails is at fault itself. What was asked wrongly stays a raised error.
fn op_fault(error: HostError) -> Result<Fault, HostError> {
    match error.kind {
        HostErrorKind::Usage => Err(error),
        HostErrorKind::Script => Ok(Fault::new(Status::Error, "reference", error.message).with_detail(&error.detail)),
        HostErrorKind::Environment => Ok(Fault::new(Status::Error, "environment", error.message)),
    }
}
