// Sum of exponentials without overflow, in one pass over a row (Milakov and Gimelshein, "Online normalizer
// calculation for softmax", 2018): the running maximum m and s = sum exp(x - m), rescaled when m grows.
// Special values act as in exp(x - max) / sum: a NaN or +inf in the row, or a row of only -inf, gives s = NaN or a
// factor NaN and so a row of NaN; a -inf beside finite values gives 0.
#pragma once
#include "row.cuh"

// exp(from - to), where a state that has seen nothing but -inf (`to` = -inf) keeps its sum as it is.
__device__ __forceinline__ float rescale(float from, float to) { return __expf(from - (to == -infinity() ? 0.f : to)); }

struct OnlineSoftmax {
    float max = -infinity();
    float sum = 0.f;

    template <int V>
    __device__ __forceinline__ void add(const float (&values)[V]) {
        float top = values[0];
#pragma unroll
        for (int k = 1; k < V; ++k) top = fmaxf(top, values[k]);
        if (top > max) {
            sum *= rescale(max, top);
            max = top;
        }
        const float shift = max == -infinity() ? 0.f : max;
#pragma unroll
        for (int k = 0; k < V; ++k) sum += __expf(values[k] - shift);
    }

    // Adds a whole row of memory with four packs in flight; `total` also gets the plain sum of the elements.
    template <typename T, int V, int TPR, bool TOTAL>
    __device__ __forceinline__ void scan(const T* row, int n, float& total) {
        constexpr int AHEAD = 4;
        for (int start = static_cast<int>(threadIdx.x) * V; start < n; start += AHEAD * TPR * V) {
            Pack<T, V> packs[AHEAD];
#pragma unroll
            for (int a = 0; a < AHEAD; ++a) {
                const int i = start + a * TPR * V;
                if (i < n) packs[a] = load_pack<V>(row + i);
            }
#pragma unroll
            for (int a = 0; a < AHEAD; ++a) {
                if (start + a * TPR * V < n) {
                    float v[V];
                    unpack(packs[a], v);
                    add(v);
                    if constexpr (TOTAL) {
#pragma unroll
                        for (int k = 0; k < V; ++k) total += v[k];
                    }
                }
            }
        }
    }

    // Joins the states of a row's TPR threads; all get the same bits. `scratch` holds 2 * REDUCE_FLOATS. One barrier
    // if TPR > 32, else none.
    template <int TPR>
    __device__ __forceinline__ void join(float* scratch) {
        constexpr int width = TPR < 32 ? TPR : 32;
        float top = max;
#pragma unroll
        for (int step = width / 2; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step, width));
        sum *= rescale(max, top);
        max = top;
#pragma unroll
        for (int step = width / 2; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step, width);
        if constexpr (TPR > 32) {
            if (threadIdx.x % 32 == 0) {
                scratch[threadIdx.x / 32] = max;
                scratch[REDUCE_FLOATS + threadIdx.x / 32] = sum;
            }
            __syncthreads();
#pragma unroll
            for (int warp = 0; warp < TPR / 32; ++warp) max = fmaxf(max, scratch[warp]);
            sum = 0.f;
#pragma unroll
            for (int warp = 0; warp < TPR / 32; ++warp) sum += scratch[REDUCE_FLOATS + warp] * rescale(scratch[warp], max);
        }
    }
};
