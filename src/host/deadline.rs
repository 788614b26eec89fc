//! A wall-clock budget for Lua code that may loop for ever, such as an op's reference.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use mlua::{HookTriggers, Lua, VmState};

use super::HostError;

/// Instructions between two looks at the clock: far below a millisecond of Lua, far above the cost of the look.
const INSTRUCTIONS_PER_CHECK: u32 = 10_000;

#[derive(Clone)]
struct Budget {
    until: Instant,
    seconds: f64,
    what: String,
    next_step: String,
}

/// The budgets of one VM, innermost last. A hook on every coroutine fails once any of them is over, and keeps failing,
/// so that neither `pcall` nor a coroutine gets past it.
#[derive(Clone, Default)]
pub(super) struct Deadline {
    budgets: Rc<RefCell<Vec<Budget>>>,
}

impl Deadline {
    /// Installs the hook; before any coroutine exists, since a coroutine inherits the hook of its creator.
    pub(super) fn install(&self, lua: &Lua) -> mlua::Result<()> {
        let deadline = self.clone();
        let triggers = HookTriggers::new().every_nth_instruction(INSTRUCTIONS_PER_CHECK);
        lua.set_global_hook(triggers, move |_, debug| {
            let Some(message) = deadline.overrun() else { return Ok(VmState::Continue) };
            let source = debug.source().source.map(|source| source.trim_start_matches('@').to_owned());
            let place = match (source, debug.current_line()) {
                (Some(source), Some(line)) => format!("{source}:{line}: "),
                _ => String::new(),
            };
            Err(HostError::script(place + &message).into())
        })
    }

    /// What is over its budget, if anything is.
    pub(super) fn overrun(&self) -> Option<String> {
        let budgets = self.budgets.borrow();
        let now = (!budgets.is_empty()).then(Instant::now)?;
        let over = budgets.iter().find(|budget| now >= budget.until)?;
        Some(format!("{} ran longer than {} s; {}", over.what, over.seconds, over.next_step))
    }

    /// Runs `body`; Lua code in it fails once `limit` has passed.
    pub(super) fn run<T>(&self, limit: Duration, what: &str, next_step: &str, body: impl FnOnce() -> T) -> T {
        struct Pop<'a>(&'a Deadline);
        impl Drop for Pop<'_> {
            fn drop(&mut self) {
                self.0.budgets.borrow_mut().pop();
            }
        }
        self.budgets.borrow_mut().push(Budget {
            until: Instant::now() + limit,
            seconds: limit.as_secs_f64(),
            what: what.to_owned(),
            next_step: next_step.to_owned(),
        });
        let _pop = Pop(self);
        body()
    }
}
