//! The built binary, as its users meet it: every command, every kind of bad input, every way to die.

mod candidates;
mod commands;
mod logs;
mod ops;
mod processes;
mod support;
mod tour;
