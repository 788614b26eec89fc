//! Values against hand-computed ones, gradients against central differences, semantics at the edges.

mod elementwise;
mod index;
mod numerics;
mod product;
mod recurrence;
mod reduce;
mod shape;
mod support;
mod tape;
