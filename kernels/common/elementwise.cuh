// Elementwise maps of INS tensors to OUTS tensors, all flat, of `count` elements and 16-byte aligned.
//
// A thread takes UNROLL packs of V elements, a block's packs side by side; all loads are issued before the first
// store. Block 0 also takes the last count % V elements, one per thread.
// Grid: ceil(count / (V * UNROLL * blockDim.x)) blocks of at least V threads.
#pragma once
#include "pack.cuh"

// 1 / (1 + exp(-a)); an exponential that overflows gives 0.
__device__ __forceinline__ float sigmoid(float a) { return __fdividef(1.f, 1.f + __expf(-a)); }

// f(x, y) computes the outputs y[OUTS] of one element from its inputs x[INS].
template <int V, typename T, int INS, int OUTS, typename F>
__device__ __forceinline__ void map_pack(const Pack<T, V> (&in)[INS], T* const (&out)[OUTS], long long at, F f) {
    float xs[INS][V], ys[OUTS][V];
#pragma unroll
    for (int i = 0; i < INS; ++i) unpack(in[i], xs[i]);
#pragma unroll
    for (int k = 0; k < V; ++k) {
        float x[INS], y[OUTS];
#pragma unroll
        for (int i = 0; i < INS; ++i) x[i] = xs[i][k];
        f(x, y);
#pragma unroll
        for (int o = 0; o < OUTS; ++o) ys[o][k] = y[o];
    }
#pragma unroll
    for (int o = 0; o < OUTS; ++o) store_floats<V>(out[o] + at, ys[o]);
}

template <int V, int UNROLL, typename T, int INS, int OUTS, typename F>
__device__ __forceinline__ void map_elements(const T* const (&in)[INS], T* const (&out)[OUTS], long long count, F f) {
    const long long packs = count / V;
    const long long first = static_cast<long long>(blockIdx.x) * (blockDim.x * UNROLL) + threadIdx.x;
    Pack<T, V> held[UNROLL][INS];
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
        const long long at = first + u * blockDim.x;
#pragma unroll
        for (int i = 0; i < INS; ++i) {
            if (at < packs) held[u][i] = load_pack<V>(in[i] + at * V);
        }
    }
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
        const long long at = first + u * blockDim.x;
        if (at < packs) map_pack<V>(held[u], out, at * V, f);
    }
    const long long last = packs * V + threadIdx.x;
    if (blockIdx.x == 0 && last < count) {
        Pack<T, 1> one[INS];
#pragma unroll
        for (int i = 0; i < INS; ++i) one[i] = load_pack<1>(in[i] + last);
        map_pack<1>(one, out, last, f);
    }
}
