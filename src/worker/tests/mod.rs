//! Children that misbehave in every way, and a launcher on a device that only remembers.

mod children;
mod launching;
