//! Lua's `tensor` module: [`crate::truth`] under PyTorch's names.
//!
//! Every op is one row of a table (`ops_*.rs`): name, signature, a line of documentation, and the call. The rows make
//! the methods of a tensor, the functions of the module and the editor stub `scripts/types/tensor.lua`, so that the
//! three cannot drift apart. Arguments are never coerced; what is left over or unknown is an error.

mod args;
mod install;
mod op;
mod ops_arithmetic;
mod ops_create;
mod ops_elementwise;
mod ops_index;
mod ops_product;
mod ops_recurrence;
mod ops_reduce;
mod ops_shape;
mod step;
#[cfg(test)]
mod stub;
#[cfg(test)]
mod tests;
mod userdata;

pub use install::install;
pub use op::{field_names, function_names, method_names};
pub use userdata::LuaTensor;
