//! What people and programs read: tables, colour, `--json`.
