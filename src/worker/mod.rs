//! Child processes: spawn, wait, kill, framed messages, shared memory, and the two roles a child can have.
