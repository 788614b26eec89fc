//! A Lua function as the step of `tensor.scan`.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use mlua::{Function, MultiValue, Value};

use super::args::{as_tensor, describe};
use super::userdata::LuaTensor;
use crate::truth::{Error, Result, Tensor};

thread_local! {
    static STEPS: RefCell<HashMap<u64, Function>> = RefCell::default();
    static NEXT: Cell<u64> = const { Cell::new(0) };
}

/// The key of a function that this thread keeps for the tape: the tape may move between threads, a VM may not.
pub(super) struct LuaStep(u64);

impl LuaStep {
    pub(super) fn new(function: Function) -> Self {
        let key = NEXT.get();
        NEXT.set(key + 1);
        STEPS.with_borrow_mut(|steps| steps.insert(key, function));
        Self(key)
    }

    pub(super) fn call(&self, arguments: &[Tensor]) -> Result<Vec<Tensor>> {
        let fault = |message: String| Error::Misuse { op: "scan", message };
        let function = STEPS.with_borrow(|steps| steps.get(&self.0).cloned());
        let function = function.ok_or_else(|| fault("the step belongs to another thread's VM".into()))?;
        let arguments: Vec<LuaTensor> = arguments.iter().cloned().map(LuaTensor::new).collect();
        let returned: MultiValue =
            function.call(mlua::Variadic::from_iter(arguments)).map_err(|error| fault(innermost(error)))?;
        let tensor = |value: &Value| {
            as_tensor(value).ok_or_else(|| fault(format!("the step must return tensors, got {}", describe(value))))
        };
        returned.iter().map(tensor).collect()
    }
}

impl Drop for LuaStep {
    fn drop(&mut self) {
        // Dropped after the function, as its VM may hold tensors whose tape holds other steps.
        let function = STEPS.try_with(|steps| steps.borrow_mut().remove(&self.0));
        drop(function);
    }
}

/// What the step itself raised, which names its file and line.
fn innermost(error: mlua::Error) -> String {
    match error {
        mlua::Error::CallbackError { cause, .. } => innermost((*cause).clone()),
        mlua::Error::RuntimeError(message) => message,
        other => other.to_string(),
    }
}
