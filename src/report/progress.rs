//! What is going on, on a terminal; silence in a pipe.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// One line on stderr that changes. Drawn only when stderr is a terminal.
pub struct Progress(ProgressBar);

impl Progress {
    pub fn new() -> Self {
        let bar = ProgressBar::new_spinner();
        // The template is a constant; if it ever were wrong, the default style is fine too.
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        Self(bar)
    }

    /// What is being done now.
    pub fn set(&self, message: &str) {
        self.0.set_message(message.to_owned());
    }

    /// Prints a line above (the bar is out of its way).
    pub fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.0.suspend(print)
    }

    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}

impl Default for Progress {
    fn default() -> Self {
        Self::new()
    }
}
