//! From a request to a checked plan.

use super::error::{candidate, from_lua};
use super::recorder::Recorder;
use super::resolve::{limit_size, resolve};
use super::{candidate as caller, check, vm};
use crate::device::Compiler;
use crate::model::{Plan, PlanError, PlanErrorKind, PlanRequest};

/// Runs the candidate, compiles its kernels and returns the plan. `lua_done` is called when no candidate code will run
/// any more.
pub fn plan(request: &PlanRequest, compiler: &dyn Compiler, lua_done: impl FnOnce()) -> Result<Plan, PlanError> {
    let path = &request.candidate;
    let file = path.strip_prefix(&request.root).unwrap_or(path).display().to_string();
    let unreadable = |error: std::io::Error| candidate(format!("{file}: cannot be read: {error}"));
    let folder = path.canonicalize().map_err(unreadable)?;
    let folder = folder.parent().unwrap_or(&folder).to_owned();
    let recorder = Recorder::new(request.target.clone(), file.clone(), folder, request.signature.op.clone());
    let lua = vm::new(recorder).map_err(|error| PlanError {
        kind: PlanErrorKind::Environment,
        message: format!("cannot set up Lua: {error}"),
        detail: String::new(),
    })?;
    let result = caller::run(&lua, path, &request.signature);
    lua_done();
    result?;
    let recorder =
        lua.remove_app_data::<Recorder>().ok_or_else(|| from_lua(&mlua::Error::runtime("no plan"), &file))?;
    drop(lua);
    let plan = resolve(recorder, compiler, &request.cache_dir)?;
    check(&plan, &request.signature).map_err(|message| candidate(format!("{file}: {message}")))?;
    limit_size(&plan, &file)?;
    Ok(plan)
}
