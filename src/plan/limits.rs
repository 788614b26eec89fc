//! What one candidate may use. A plan of a real kernel stays orders of magnitude below each of these.

/// Bytes that the Lua VM may allocate.
pub(super) const LUA_BYTES: usize = 256 << 20;
/// Lua instructions, over loading, forward and backward together (about a second).
pub(super) const LUA_INSTRUCTIONS: u64 = 100_000_000;
/// The budget is checked every so many instructions.
pub(super) const HOOK_INTERVAL: u32 = 10_000;
/// Wall clock for the candidate's Lua. Also ends what no instruction hook sees: loops inside C functions, and `__close`
/// methods that run while the hook's own error unwinds.
pub const LUA_SECONDS: u64 = 10;
/// Bytes of a candidate's Lua file.
pub(super) const SOURCE_BYTES: u64 = 1 << 20;
/// Launches, fills, copies and products of both passes.
pub(super) const NODES: usize = 100_000;
/// Kernel arguments of all launches.
pub(super) const ARGUMENTS: usize = 2_000_000;
/// Buffers, inputs included.
pub(super) const BUFFERS: usize = 10_000;
/// Compiled files, counting each set of options.
pub(super) const MODULES: usize = 32;
/// Kernel instances of one module.
pub(super) const INSTANCES: usize = 1_000;
/// Characters of a kernel's name expression or of one compiler option.
pub(super) const NAME_BYTES: usize = 1_000;
/// Compiler options of one module.
pub(super) const OPTIONS: usize = 64;
/// Dimensions of a tensor.
pub(super) const NDIM: usize = 16;
/// Bytes of a serialised plan.
pub(super) const PLAN_BYTES: usize = 8 << 20;
/// Bytes of one kernel's arguments: CUDA's limit (4 KiB before compute capability 7.0 and CUDA 12.1, kept for all).
pub(super) const ARGUMENT_BYTES: u64 = 4 << 10;
/// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": blocks in x, then in y and z.
pub(super) const GRID: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];
/// Threads of a block in x, y and z (same table).
pub(super) const BLOCK: [u32; 3] = [1024, 1024, 64];
/// Threads of a block in all (same table).
pub(super) const BLOCK_THREADS: u64 = 1024;
/// Values, nested tables included, in what forward saves.
pub(super) const SAVED_VALUES: usize = 10_000;
/// Nesting of what forward saves.
pub(super) const SAVED_DEPTH: usize = 16;
