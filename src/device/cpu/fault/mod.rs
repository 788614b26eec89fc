//! From a signal to one readable line: the handler leaves the facts, a thread of its own looks up the source line.
//!
//! Nothing that allocates or locks runs in the handler, so that a kernel may fault anywhere, its own stack overflown
//! or the allocator's lock held.

mod handler;
mod reporter;
mod symbols;

pub(super) use handler::{install, prepare_thread};
pub(super) use symbols::{register_object, unregister_object};
