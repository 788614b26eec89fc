//! The fiber switch: callee-saved registers and the stack pointer, nothing else.
//!
//! `ucontext` would save the signal mask too, with a system call per switch, about 20 times the cost.

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("the cpu device has fiber switches for x86_64 and aarch64 only");

#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    ".p2align 4",
    ".globl popcorn_simt_switch",
    ".hidden popcorn_simt_switch",
    ".type popcorn_simt_switch,@function",
    "popcorn_simt_switch:",
    "pushq %rbp",
    "pushq %rbx",
    "pushq %r12",
    "pushq %r13",
    "pushq %r14",
    "pushq %r15",
    "movq %rsp, (%rdi)",
    "movq %rsi, %rsp",
    "movq %rdx, %rax",
    "popq %r15",
    "popq %r14",
    "popq %r13",
    "popq %r12",
    "popq %rbx",
    "popq %rbp",
    "ret",
    ".size popcorn_simt_switch,.-popcorn_simt_switch",
    options(att_syntax)
);

#[cfg(target_arch = "aarch64")]
std::arch::global_asm!(
    ".p2align 4",
    ".globl popcorn_simt_switch",
    ".hidden popcorn_simt_switch",
    ".type popcorn_simt_switch,%function",
    "popcorn_simt_switch:",
    "sub sp, sp, #160",
    "stp x19, x20, [sp, #0]",
    "stp x21, x22, [sp, #16]",
    "stp x23, x24, [sp, #32]",
    "stp x25, x26, [sp, #48]",
    "stp x27, x28, [sp, #64]",
    "stp x29, x30, [sp, #80]",
    "stp d8, d9, [sp, #96]",
    "stp d10, d11, [sp, #112]",
    "stp d12, d13, [sp, #128]",
    "stp d14, d15, [sp, #144]",
    "mov x9, sp",
    "str x9, [x0]",
    "mov sp, x1",
    "mov x0, x2",
    "ldp x19, x20, [sp, #0]",
    "ldp x21, x22, [sp, #16]",
    "ldp x23, x24, [sp, #32]",
    "ldp x25, x26, [sp, #48]",
    "ldp x27, x28, [sp, #64]",
    "ldp x29, x30, [sp, #80]",
    "ldp d8, d9, [sp, #96]",
    "ldp d10, d11, [sp, #112]",
    "ldp d12, d13, [sp, #128]",
    "ldp d14, d15, [sp, #144]",
    "add sp, sp, #160",
    "ret",
    ".size popcorn_simt_switch,.-popcorn_simt_switch",
);

unsafe extern "C" {
    /// Saves the running fiber's state on its stack, its stack pointer in `*save`, and continues the one at `to`,
    /// whose own call of this function then returns `value`. As the last call of a function it needs no other frame.
    #[link_name = "popcorn_simt_switch"]
    pub(super) fn switch(save: *mut *mut u8, to: *mut u8, value: u64) -> u64;
}

/// A first frame below `top` whose resumption calls `entry`; returns the stack pointer to switch to.
///
/// # Safety
/// `top` must be the upper end of at least 256 writable bytes that nothing else uses.
pub(super) unsafe fn first_frame(top: *mut u8, entry: unsafe extern "C" fn() -> !) -> *mut u8 {
    // SAFETY: the writes stay within 256 bytes below `top`, which the caller vouches for.
    unsafe {
        let aligned = top.map_addr(|address| address & !15);
        #[cfg(target_arch = "x86_64")]
        {
            // After `ret` the stack pointer must be 8 below a multiple of 16, as after a call.
            let frame = aligned.sub(16 + 6 * 8).cast::<usize>();
            frame.write_bytes(0, 8);
            frame.add(6).write(entry as usize);
            frame.cast()
        }
        #[cfg(target_arch = "aarch64")]
        {
            let frame = aligned.sub(160).cast::<usize>();
            frame.write_bytes(0, 20);
            frame.add(11).write(entry as usize);
            frame.cast()
        }
    }
}
