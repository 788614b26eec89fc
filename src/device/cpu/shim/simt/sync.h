// Barriers, warp votes, shuffles and reductions, fences.
#pragma once
#define SIMT_FULL 0xffffffffu
#define SIMT_W(op, width) ((unsigned)(op) | (width) << 8)

SIMT_INL void __syncthreads(SIMT_AT) { simt_host.barrier(SIMT_BARRIER, 0, line, file); }
SIMT_INL int __syncthreads_count(int p, SIMT_AT) { return (int)simt_host.barrier(SIMT_BARRIER_COUNT, p != 0, line, file); }
SIMT_INL int __syncthreads_and(int p, SIMT_AT) { return (int)simt_host.barrier(SIMT_BARRIER_AND, p != 0, line, file); }
SIMT_INL int __syncthreads_or(int p, SIMT_AT) { return (int)simt_host.barrier(SIMT_BARRIER_OR, p != 0, line, file); }

SIMT_INL void __syncwarp(unsigned mask = SIMT_FULL, SIMT_AT) { simt_host.warp(SIMT_W(SIMT_SYNC, 32), mask, 0, 0, line, file); }
SIMT_INL unsigned __activemask(SIMT_AT) { return (unsigned)simt_host.activemask(line, file); }
SIMT_INL unsigned __ballot_sync(unsigned mask, int p, SIMT_AT) {
    return (unsigned)simt_host.warp(SIMT_W(SIMT_BALLOT, 32), mask, p != 0, 0, line, file);
}
SIMT_INL int __all_sync(unsigned mask, int p, SIMT_AT) {
    return (int)simt_host.warp(SIMT_W(SIMT_ALL, 32), mask, p != 0, 0, line, file);
}
SIMT_INL int __any_sync(unsigned mask, int p, SIMT_AT) {
    return (int)simt_host.warp(SIMT_W(SIMT_ANY, 32), mask, p != 0, 0, line, file);
}

template <class T> SIMT_INL unsigned long long simt_to_bits(T v) {
    static_assert(sizeof(T) <= 8, "a warp exchanges values of at most 8 bytes");
    unsigned long long bits = 0;
    memcpy(&bits, &v, sizeof(T));
    return bits;
}
template <class T> SIMT_INL T simt_from_bits(unsigned long long bits) {
    T v;
    memcpy(&v, &bits, sizeof(T));
    return v;
}
#define SIMT_SHUFFLE(name, op, P)                                                                        \
    template <class T> SIMT_INL T name(unsigned mask, T v, P param, int width = 32, SIMT_AT) {           \
        return simt_from_bits<T>(simt_host.warp(SIMT_W(op, (unsigned)width), mask, simt_to_bits(v), (int)param, line, file)); \
    }
SIMT_SHUFFLE(__shfl_sync, SIMT_IDX, int)
SIMT_SHUFFLE(__shfl_up_sync, SIMT_UP, unsigned)
SIMT_SHUFFLE(__shfl_down_sync, SIMT_DOWN, unsigned)
SIMT_SHUFFLE(__shfl_xor_sync, SIMT_XOR, int)
#undef SIMT_SHUFFLE

template <class T> SIMT_INL unsigned __match_any_sync(unsigned mask, T v, SIMT_AT) {
    return (unsigned)simt_host.warp(SIMT_W(SIMT_MATCH_ANY, 32), mask, simt_to_bits(v), 0, line, file);
}
template <class T> SIMT_INL unsigned __match_all_sync(unsigned mask, T v, int* pred, SIMT_AT) {
    unsigned same = (unsigned)simt_host.warp(SIMT_W(SIMT_MATCH_ALL, 32), mask, simt_to_bits(v), 0, line, file);
    *pred = same != 0;
    return same;
}
#define SIMT_REDUCE(name, op, T)                                                             \
    SIMT_INL T name(unsigned mask, T v, SIMT_AT) {                                           \
        return (T)simt_host.warp(SIMT_W(op, 32), mask, (unsigned)v, 0, line, file);                  \
    }
SIMT_REDUCE(__reduce_add_sync, SIMT_ADD, unsigned)
SIMT_REDUCE(__reduce_add_sync, SIMT_ADD, int)
SIMT_REDUCE(__reduce_min_sync, SIMT_UMIN, unsigned)
SIMT_REDUCE(__reduce_min_sync, SIMT_MIN, int)
SIMT_REDUCE(__reduce_max_sync, SIMT_UMAX, unsigned)
SIMT_REDUCE(__reduce_max_sync, SIMT_MAX, int)
SIMT_REDUCE(__reduce_and_sync, SIMT_AND, unsigned)
SIMT_REDUCE(__reduce_or_sync, SIMT_OR, unsigned)
SIMT_REDUCE(__reduce_xor_sync, SIMT_BITXOR, unsigned)
#undef SIMT_REDUCE

SIMT_INL void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
SIMT_INL void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
SIMT_INL void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
SIMT_INL void __nanosleep(unsigned, SIMT_AT) { simt_host.yield(line, file); }
SIMT_INL void __trap(SIMT_AT) { simt_host.trap("__trap()", file, line); }
SIMT_INL void __brkpt(SIMT_AT) { simt_host.trap("__brkpt()", file, line); }
SIMT_INL unsigned __simt_lane() {
    return ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) & 31u;
}
template <class... A> SIMT_INL int printf(const char* format, A... args) { return dprintf(2, format, args...); }
SIMT_INL void* malloc(size_t bytes) { return simt_host.allocate(bytes); }
SIMT_INL void free(void* p) { simt_host.release(p); }
SIMT_INL long long clock64() {
#if defined(__x86_64__)
    return (long long)__builtin_ia32_rdtsc();
#else
    unsigned long long t;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
    return (long long)t;
#endif
}
SIMT_INL int clock() { return (int)clock64(); }
