// Function and variable qualifiers, last: as macros they would break any header that came after.
#pragma once
#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 0
// Steers code that asks to its branch without newer hardware instructions.
#define __CUDA_ARCH__ 700
#define POPCORN_CPU 1

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
// One block runs on a worker thread at a time, so one copy per worker is one copy per block.
#define __shared__ thread_local
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __inline_hint__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __restrict __restrict__
// `__shared__ alignas(16) T x[..]` is CUDA, but `thread_local alignas(16)` is not C++.
#define alignas(n) __attribute__((aligned(n)))

#define assert(c) ((c) ? (void)0 : simt_host.trap("assertion failed: " #c, __FILE__, __LINE__))
#define SIMT_ASM_ERROR _Pragma("GCC error \"unsupported on the cpu device: inline PTX asm\"")
#define asm SIMT_ASM_ERROR asm
#define __asm SIMT_ASM_ERROR __asm
#define __asm__ SIMT_ASM_ERROR __asm__
