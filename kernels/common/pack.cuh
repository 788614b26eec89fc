// Element types and wide memory accesses.
//
// All arithmetic is in float; memory holds float, __half or __nv_bfloat16. A Pack<T, V> is V neighbouring
// elements moved by one load or store of V * sizeof(T) bytes (2 to 16), so its address must be a multiple of that.
// The launch code picks V as the largest power of two that divides the row length and keeps a pack within
// 16 bytes: rows of a 16-byte aligned tensor then start on a pack.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ __forceinline__ float infinity() { return __int_as_float(0x7f800000); }
__device__ __forceinline__ float quiet_nan() { return __int_as_float(0x7fffffff); }

__device__ __forceinline__ float to_float(float v) { return v; }
__device__ __forceinline__ float to_float(__half v) { return __half2float(v); }
__device__ __forceinline__ float to_float(__nv_bfloat16 v) { return __bfloat162float(v); }

__device__ __forceinline__ void round_to(float& out, float v) { out = v; }
__device__ __forceinline__ void round_to(__half& out, float v) { out = __float2half_rn(v); }
__device__ __forceinline__ void round_to(__nv_bfloat16& out, float v) { out = __float2bfloat16_rn(v); }

// One unsigned word of B bytes.
template <int B> struct Word;
template <> struct Word<2> { using type = unsigned short; };
template <> struct Word<4> { using type = unsigned; };
template <> struct Word<8> { using type = uint2; };
template <> struct Word<16> { using type = uint4; };

template <typename T, int V>
struct Pack {
    using Bits = typename Word<V * sizeof(T)>::type;
    Bits bits;
};

template <int V, typename T>
__device__ __forceinline__ Pack<T, V> load_pack(const T* at) {
    Pack<T, V> pack;
    pack.bits = *reinterpret_cast<const typename Pack<T, V>::Bits*>(at);
    return pack;
}

template <typename T, int V>
__device__ __forceinline__ void unpack(const Pack<T, V>& pack, float (&values)[V]) {
    const T* elements = reinterpret_cast<const T*>(&pack.bits);
#pragma unroll
    for (int k = 0; k < V; ++k) values[k] = to_float(elements[k]);
}

template <int V, typename T>
__device__ __forceinline__ void load_floats(const T* at, float (&values)[V]) {
    unpack(load_pack<V>(at), values);
}

// Rounds once (to nearest even) and stores.
template <int V, typename T>
__device__ __forceinline__ void store_floats(T* at, const float (&values)[V]) {
    Pack<T, V> pack;
    T* elements = reinterpret_cast<T*>(&pack.bits);
#pragma unroll
    for (int k = 0; k < V; ++k) round_to(elements[k], values[k]);
    *reinterpret_cast<typename Pack<T, V>::Bits*>(at) = pack.bits;
}
