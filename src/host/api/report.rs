//! `popcorn.report`: tables, colour, progress. `popcorn.time`: the clock of records.

use mlua::{Lua, MultiValue, Table, Value};

use super::arguments::{exactly, string};
use crate::host::{HostError, did_you_mean, from_lua};
use crate::report::{self, Progress, Style};

pub(super) fn install(lua: &Lua, popcorn: &Table) -> mlua::Result<()> {
    let module = lua.create_table()?;
    module.set(
        "table",
        lua.create_function(|_, args: MultiValue| {
            let call = "popcorn.report.table";
            let [header, rows, align] = exactly(call, args)?;
            let header: Vec<String> = from_lua(&header, call)?;
            let rows: Vec<Vec<String>> = from_lua(&rows, call)?;
            let align = if align.is_nil() { String::new() } else { string(call, &align)? };
            Ok(report::table(&header, &rows, &align))
        })?,
    )?;
    module.set(
        "style",
        lua.create_function(|_, args: MultiValue| {
            let call = "popcorn.report.style";
            let [text, style] = exactly(call, args)?;
            Ok(report::paint(&string(call, &text)?, style_named(&string(call, &style)?)?))
        })?,
    )?;
    let progress = Progress::default();
    module.set(
        "progress",
        lua.create_function(move |_, args: MultiValue| {
            let call = "popcorn.report.progress";
            match exactly(call, args)? {
                [Value::Nil] => progress.finish(),
                [text] => progress.show(&string(call, &text)?),
            }
            Ok(())
        })?,
    )?;
    popcorn.set("report", module)?;

    let time = lua.create_table()?;
    time.set(
        "utc",
        lua.create_function(|_, args: MultiValue| {
            let [] = exactly("popcorn.time.utc", args)?;
            Ok(jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
        })?,
    )?;
    popcorn.set("time", time)
}

fn style_named(name: &str) -> Result<Style, HostError> {
    Style::NAMED.into_iter().find(|(known, _)| *known == name).map(|(_, style)| style).ok_or_else(|| {
        HostError::script(format!("unknown style '{name}'{}", did_you_mean(name, Style::NAMED.map(|(known, _)| known))))
    })
}
