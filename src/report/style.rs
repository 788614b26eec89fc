//! Colour on stdout, when it is a terminal and NO_COLOR is not set.

use owo_colors::{OwoColorize, Stream};

/// The few ways in which popcorn sets text apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Good,
    Bad,
    Warning,
    Dim,
    Bold,
}

impl Style {
    /// The names that scripts use.
    pub const NAMED: [(&'static str, Self); 5] = [
        ("good", Self::Good),
        ("bad", Self::Bad),
        ("warning", Self::Warning),
        ("dim", Self::Dim),
        ("bold", Self::Bold),
    ];
}

/// `text` in `style`, or plain where colour is not wanted.
pub fn paint(text: &str, style: Style) -> String {
    let stream = Stream::Stdout;
    match style {
        Style::Good => text.if_supports_color(stream, |t| t.green()).to_string(),
        Style::Bad => text.if_supports_color(stream, |t| t.red()).to_string(),
        Style::Warning => text.if_supports_color(stream, |t| t.yellow()).to_string(),
        Style::Dim => text.if_supports_color(stream, |t| t.dimmed()).to_string(),
        Style::Bold => text.if_supports_color(stream, |t| t.bold()).to_string(),
    }
}
