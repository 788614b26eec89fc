//! The planner: a bare Lua VM calls the candidate on symbolic tensors and records what it does as a plan.
