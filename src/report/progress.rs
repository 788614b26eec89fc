//! What is going on, on a terminal; silence in a pipe.

use std::cell::RefCell;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// One line on stderr that changes. Drawn only when stderr is a terminal.
#[derive(Default)]
pub struct Progress(RefCell<Option<ProgressBar>>);

impl Progress {
    /// What is being done now.
    pub fn show(&self, message: &str) {
        let mut shown = self.0.borrow_mut();
        let bar = shown.get_or_insert_with(|| {
            let bar = ProgressBar::new_spinner();
            // The template is a constant; if it ever were wrong, the default style is fine too.
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        bar.set_message(message.to_owned());
    }

    /// Clears the line, so that something can be printed in its place.
    pub fn finish(&self) {
        if let Some(bar) = self.0.take() {
            bar.finish_and_clear();
        }
    }
}
