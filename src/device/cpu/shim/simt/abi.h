// The contract with src/device/cpu/simt/abi.rs; the two files change together.
#pragma once
#define SIMT_ABI 1

// Where a kernel thread is. One per worker thread; the scheduler rewrites `tid` at each switch of fibers.
struct simt_context {
    uint3 tid, bid;
    // Nonzero while the threads of a block run one after another as a plain loop.
    unsigned plain;
    unsigned reserved;
};

// What the host gives to a loaded object.
struct simt_runtime {
    unsigned long long (*barrier)(int op, int predicate, int line, const char* file);
    unsigned long long (*warp)(unsigned op_width, unsigned mask, unsigned long long value, int param, int line,
                               const char* file);
    unsigned long long (*activemask)(int line, const char* file);
    void (*yield)(int line, const char* file);
    void (*trap)(const char* what, const char* file, int line) __attribute__((noreturn));
    void* (*allocate)(size_t bytes);
    void (*release)(void* p);
};

enum simt_barrier { SIMT_BARRIER, SIMT_BARRIER_COUNT, SIMT_BARRIER_AND, SIMT_BARRIER_OR };
enum simt_warp_op {
    SIMT_SYNC, SIMT_IDX, SIMT_UP, SIMT_DOWN, SIMT_XOR, SIMT_BALLOT, SIMT_ALL, SIMT_ANY, SIMT_MATCH_ANY, SIMT_MATCH_ALL,
    SIMT_ADD, SIMT_MIN, SIMT_MAX, SIMT_UMIN, SIMT_UMAX, SIMT_AND, SIMT_OR, SIMT_BITXOR
};

// A parameter: `kind` 0 struct, 1 pointer, 2 signed, 3 unsigned, 4 float, 5 bool; `element` names a pointee.
struct simt_param {
    unsigned size, kind, element, is_const;
};
struct simt_entry {
    const char* name;
    // Runs threads from linear index `first`: all that follow while `plain` stays set, else one.
    void (*run)(void** args, unsigned first);
    unsigned params_len;
};
struct simt_shared {
    char* begin;
    char* end;
    char* dynamic;
    simt_context* context;
};
struct simt_module {
    unsigned abi, entries_len;
    const simt_entry* entries;
    simt_runtime* runtime;
    dim3* block_dim;
    dim3* grid_dim;
    // The calling worker's shared memory: static in begin..end, dynamic at `dynamic`.
    void (*shared)(simt_shared* out);
    // Bytes of stack per thread, bytes of dynamic shared memory at most.
    const unsigned long* limits;
};

// From a library of its own (context.rs), so that it can have the fastest kind of thread-local access.
extern "C" {
extern __thread simt_context simt_here __attribute__((visibility("default"), tls_model("initial-exec")));
}

#pragma GCC visibility push(hidden)
extern "C" {
extern simt_runtime simt_host;
// In the generated assembly, so that they bracket the kernel's own thread-local (that is, shared) variables.
extern __thread char simt_shared_begin[64], simt_shared_end[64], simt_dynamic[];
extern const unsigned long simt_limits[2];
extern dim3 simt_block_dim, simt_grid_dim;
}
#pragma GCC visibility pop

#define threadIdx (simt_here.tid)
#define blockIdx (simt_here.bid)
#define blockDim simt_block_dim
#define gridDim simt_grid_dim
#define warpSize 32

// Call sites travel as default arguments, so that a report names the user's line without any debug information.
#define SIMT_AT int line = __builtin_LINE(), const char* file = __builtin_FILE()
