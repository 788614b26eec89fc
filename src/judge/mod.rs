//! Grading: outputs and gradients against truth and the honest error.
