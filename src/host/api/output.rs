//! `popcorn.out` and `popcorn.log`: data to stdout, talk to stderr. `popcorn.null`: JSON's null.

use std::io::{self, ErrorKind, Write};

use mlua::{Lua, MultiValue, Table, Value};

use super::arguments::{exactly, string};
use crate::host::HostError;

pub(super) fn install(lua: &Lua, popcorn: &Table) -> mlua::Result<()> {
    popcorn.set("null", Value::NULL)?;
    let printer = |name: &'static str, stream: fn() -> Box<dyn Write>| {
        lua.create_function(move |_, args: MultiValue| {
            let [line] = exactly(name, args)?;
            Ok(print(&mut stream(), name, &string(name, &line)?)?)
        })
    };
    popcorn.set("out", printer("popcorn.out", || Box::new(io::stdout().lock()))?)?;
    popcorn.set("log", printer("popcorn.log", || Box::new(io::stderr().lock()))?)
}

/// A reader that has gone away (`popcorn op list | head`) is no error.
fn print(stream: &mut dyn Write, name: &str, line: &str) -> Result<(), HostError> {
    match stream.write_all(line.as_bytes()).and_then(|()| stream.write_all(b"\n")) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(HostError::environment(format!("{name}: {error}"))),
        _ => Ok(()),
    }
}
