//! `popcorn.plan`: what a candidate would do at a case, as data.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::rc::Rc;

use mlua::{FromLua, Lua, MetaMethod, MultiValue, UserData, UserDataMethods, Value};

use super::settings::Settings;
use super::{op_fault, value_or_fault};
use crate::host::api::arguments::exactly;
use crate::host::api::candidate::LuaCandidate;
use crate::host::api::case::{LuaCase, unknown_field};
use crate::host::api::op::LuaOp;
use crate::host::{HostError, cache_root, json, to_lua};
use crate::model::{Fault, Plan, PlanRequest};
use crate::worker::PlanFailure;
use crate::{device, plan as planner, worker};

/// A checked plan and the files that it came from.
#[derive(Clone)]
pub(super) struct LuaPlan {
    pub(super) plan: Rc<Plan>,
    candidate: LuaCandidate,
}

/// `popcorn.plan(candidate, op, case, settings)`.
pub(super) fn plan(lua: &Lua, args: MultiValue) -> mlua::Result<MultiValue> {
    let call = "popcorn.plan";
    let [candidate, op, case, settings] = exactly(call, args)?;
    let candidate = LuaCandidate::from_lua(candidate, lua)?;
    let (op, case) = (LuaOp::from_lua(op, lua)?, LuaCase::from_lua(case, lua)?);
    let settings = Settings::from_lua(&settings, call)?;
    let mut signature = match op.0.signature(&case.0) {
        Ok(signature) => signature,
        Err(error) => return value_or_fault(lua, Err::<LuaPlan, _>(op_fault(error)?)),
    };
    if !settings.backward {
        signature.grads.clear();
    }
    let request = PlanRequest {
        target: device::target(&settings.device).map_err(HostError::environment)?,
        candidate: candidate.path.clone(),
        root: candidate.root.clone(),
        signature,
        cache_dir: cache_root()?,
    };
    let planned = worker::run_plan(&request, settings.timeout()).map_err(|failure| match failure {
        PlanFailure::Refused(error) => Fault::from(error),
        PlanFailure::Died(failure) => Fault::from(failure),
    });
    value_or_fault(lua, planned.map(|plan| LuaPlan { plan: Rc::new(plan), candidate }))
}

impl LuaPlan {
    /// The candidate's Lua file, its `.cu` files and the headers that they include, sorted.
    fn sources(&self) -> BTreeSet<PathBuf> {
        let modules = self.plan.modules.iter().flat_map(|module| module.headers.iter().chain([&module.source]));
        modules.chain([&self.candidate.path]).cloned().collect()
    }
}

impl FromLua for LuaPlan {
    fn from_lua(value: Value, _: &Lua) -> mlua::Result<Self> {
        match value.as_userdata().and_then(|userdata| userdata.borrow::<Self>().ok()) {
            Some(plan) => Ok(plan.clone()),
            None => {
                Err(HostError::script(format!("expected a plan (from popcorn.plan), got {}", value.type_name())).into())
            }
        }
    }
}

/// For messages and the check of the stubs.
pub(in crate::host::api) const METHODS: [&str; 3] = ["data", "render", "sources"];

impl UserData for LuaPlan {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("render", |_, plan, args: MultiValue| {
            let [] = exactly("plan:render", args)?;
            Ok(planner::render(&plan.plan))
        });
        methods.add_method("data", |lua, plan, args: MultiValue| {
            let [] = exactly("plan:data", args)?;
            let data =
                serde_json::to_string(plan.plan.as_ref()).map_err(|error| HostError::environment(error.to_string()))?;
            Ok(json::decode(lua, &data)?)
        });
        methods.add_method("sources", |lua, plan, args: MultiValue| {
            let [] = exactly("plan:sources", args)?;
            Ok(to_lua(lua, &plan.sources())?)
        });
        methods.add_meta_method(MetaMethod::Index, |_, _, key: Value| unknown_field("a plan", &key, &METHODS));
    }
}
