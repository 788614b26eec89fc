// One row of n elements, worked on by TPR threads.
//
// Layout: thread t of a row owns the packs t, t + TPR, t + 2 TPR, … so that neighbouring threads touch
// neighbouring memory. Block: {TPR, rows per block}. TPR is a power of two up to 32 (then a block may hold
// several rows, its threads a multiple of 32 in all) or a multiple of 32 up to 1024 (then one row per block).
// PACKS is the number of packs per thread that are held in registers, at least n / (V * TPR) rounded up; 0 means
// the row is too long for that and is read again from memory (mostly L2) each time it is needed.
// Threads of rows past the end take part in shuffles and barriers with n = 0.
#pragma once
#include "pack.cuh"

// Calls f(p, i) for each pack of this thread: p counts packs (0 if rows are not held), i is the first element.
template <int V, int TPR, int PACKS, typename F>
__device__ __forceinline__ void each_pack(int n, F&& f) {
    if constexpr (PACKS > 0) {
#pragma unroll
        for (int p = 0; p < PACKS; ++p) {
            const int i = (p * TPR + static_cast<int>(threadIdx.x)) * V;
            if (i < n) f(p, i);
        }
    } else {
        for (int i = static_cast<int>(threadIdx.x) * V; i < n; i += TPR * V) f(0, i);
    }
}

template <typename T, int V, int TPR, int PACKS>
struct Row {
    const T* data;
    Pack<T, V> held[PACKS > 0 ? PACKS : 1];

    __device__ __forceinline__ void open(const T* row, int n) {
        data = row;
        if constexpr (PACKS > 0) each_pack<V, TPR, PACKS>(n, [&](int p, int i) { held[p] = load_pack<V>(row + i); });
    }

    __device__ __forceinline__ void get(int p, int i, float (&values)[V]) const {
        if constexpr (PACKS > 0) unpack(held[p], values);
        else load_floats<V>(data + i, values);
    }
};

// Threads per block for a row of TPR threads; the launch code keeps to it.
__host__ __device__ constexpr int block_threads(int tpr) { return tpr > 32 ? tpr : 128; }

// Blocks per multiprocessor to compile for, if a thread holds `words` 4-byte values of its row: 64 registers a thread
// do for up to 32 of them, else 128. Left alone, the compiler prefers spilling over a lower occupancy.
__host__ __device__ constexpr int resident_blocks(int tpr, int words) {
    return block_threads(tpr) > 512 ? 1 : (words > 32 ? 512 : 1024) / block_threads(tpr);
}

// Floats of shared memory that one reduction uses. Two reductions without a barrier between them need two
// areas; a loop may alternate between two, since a thread is at most one reduction ahead of the others.
constexpr int REDUCE_FLOATS = 32;

// Sum over the threads of a row, the same bits in every thread. One barrier if TPR > 32, else none.
template <int TPR>
__device__ __forceinline__ float row_sum(float v, float* scratch) {
    constexpr int width = TPR < 32 ? TPR : 32;
#pragma unroll
    for (int step = width / 2; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step, width);
    if constexpr (TPR > 32) {
        if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
        __syncthreads();
        v = 0.f;
#pragma unroll
        for (int warp = 0; warp < TPR / 32; ++warp) v += scratch[warp];
    }
    return v;
}

// Two sums with the barrier of one. `scratch` holds 2 * REDUCE_FLOATS.
template <int TPR>
__device__ __forceinline__ void row_sum2(float& a, float& b, float* scratch) {
    constexpr int width = TPR < 32 ? TPR : 32;
#pragma unroll
    for (int step = width / 2; step > 0; step /= 2) {
        a += __shfl_xor_sync(0xffffffffu, a, step, width);
        b += __shfl_xor_sync(0xffffffffu, b, step, width);
    }
    if constexpr (TPR > 32) {
        if (threadIdx.x % 32 == 0) {
            scratch[threadIdx.x / 32] = a;
            scratch[REDUCE_FLOATS + threadIdx.x / 32] = b;
        }
        __syncthreads();
        a = 0.f;
        b = 0.f;
#pragma unroll
        for (int warp = 0; warp < TPR / 32; ++warp) {
            a += scratch[warp];
            b += scratch[REDUCE_FLOATS + warp];
        }
    }
}
