//! Arguments, commands and exit codes.
