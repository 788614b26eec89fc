//! What people read: tables, colour and progress. Data goes to stdout, talk to stderr.

mod progress;
mod style;
mod table;

pub use progress::Progress;
pub use style::{Style, paint};
pub use table::table;
