// SwiGLU gate (Shazeer, "GLU Variants Improve Transformer", 2020): y = silu(a) * b with silu(a) = a * s and
// s = 1 / (1 + exp(-a)), and its gradients  da = dy * b * s * (1 + a * (1 - s)),  db = dy * a * s.
// Elementwise over `count` elements of flat, 16-byte aligned tensors. A thread takes UNROLL packs of V elements, a
// block's packs side by side; block 0 also takes the last count % V elements, one per thread.
// Grid: ceil(count / (V * UNROLL * blockDim.x)) blocks of at least V threads.
#include "common/pack.cuh"

__device__ __forceinline__ float sigmoid(float a) { return __fdividef(1.f, 1.f + __expf(-a)); }

template <typename T, int V>
__device__ __forceinline__ void gate(const Pack<T, V>& a, const Pack<T, V>& b, T* y) {
    float as[V], bs[V];
    unpack(a, as);
    unpack(b, bs);
#pragma unroll
    for (int k = 0; k < V; ++k) as[k] = as[k] * sigmoid(as[k]) * bs[k];
    store_floats<V>(y, as);
}

template <typename T, int V>
__device__ __forceinline__ void gate_grad(const Pack<T, V>& a, const Pack<T, V>& b, const Pack<T, V>& dy, T* da, T* db) {
    float as[V], bs[V], gs[V];
    unpack(a, as);
    unpack(b, bs);
    unpack(dy, gs);
#pragma unroll
    for (int k = 0; k < V; ++k) {
        const float s = sigmoid(as[k]), g = gs[k];
        gs[k] = g * as[k] * s;
        as[k] = g * bs[k] * (s * (1.f + as[k] * (1.f - s)));
    }
    store_floats<V>(da, as);
    store_floats<V>(db, gs);
}

template <typename T, int V, int UNROLL>
__global__ void __launch_bounds__(256)
swiglu_fwd(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ y, long long count) {
    const long long packs = count / V;
    const long long first = static_cast<long long>(blockIdx.x) * (blockDim.x * UNROLL) + threadIdx.x;
    Pack<T, V> as[UNROLL], bs[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
        const long long at = first + u * blockDim.x;
        if (at < packs) {
            as[u] = load_pack<V>(a + at * V);
            bs[u] = load_pack<V>(b + at * V);
        }
    }
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
        const long long at = first + u * blockDim.x;
        if (at < packs) gate(as[u], bs[u], y + at * V);
    }
    const long long last = packs * V + threadIdx.x;
    if (blockIdx.x == 0 && last < count) gate(load_pack<1>(a + last), load_pack<1>(b + last), y + last);
}

template <typename T, int V, int UNROLL>
__global__ void __launch_bounds__(256)
swiglu_bwd(const T* __restrict__ a, const T* __restrict__ b, const T* __restrict__ dy, T* __restrict__ da,
           T* __restrict__ db, long long count) {
    const long long packs = count / V;
    const long long first = static_cast<long long>(blockIdx.x) * (blockDim.x * UNROLL) + threadIdx.x;
    Pack<T, V> as[UNROLL], bs[UNROLL], gs[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
        const long long at = first + u * blockDim.x;
        if (at < packs) {
            as[u] = load_pack<V>(a + at * V);
            bs[u] = load_pack<V>(b + at * V);
            gs[u] = load_pack<V>(dy + at * V);
        }
    }
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
        const long long at = first + u * blockDim.x;
        if (at < packs) gate_grad(as[u], bs[u], gs[u], da + at * V, db + at * V);
    }
    const long long last = packs * V + threadIdx.x;
    if (blockIdx.x == 0 && last < count) {
        gate_grad(load_pack<1>(a + last), load_pack<1>(b + last), load_pack<1>(dy + last), da + last, db + last);
    }
}
