// GEGLU (Shazeer, "GLU Variants Improve Transformer", 2020) with the tanh form of GELU: y = gelu(a) * b, and its gradients
// da = dy * b * gelu'(a),  db = dy * gelu(a).
#include "common/gelu.cuh"

template <typename T, int V, int UNROLL>
__global__ void __launch_bounds__(256)
geglu_fwd(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ y, long long count) {
    map_elements<V, UNROLL, T, 2, 1>({a, b}, {y}, count, [](const float (&in)[2], float (&out)[1]) {
        out[0] = in[0] * tanh_cdf(in[0]).value * in[1];
    });
}

template <typename T, int V, int UNROLL>
__global__ void __launch_bounds__(256)
geglu_bwd(const T* __restrict__ a, const T* __restrict__ b, const T* __restrict__ dy, T* __restrict__ da,
          T* __restrict__ db, long long count) {
    map_elements<V, UNROLL, T, 3, 2>({a, b, dy}, {da, db}, count, [](const float (&in)[3], float (&out)[2]) {
        const Cdf c = tanh_cdf(in[0]);
        out[0] = in[2] * in[1] * (c.value + in[0] * c.derivative);
        out[1] = in[2] * in[0] * c.value;
    });
}
