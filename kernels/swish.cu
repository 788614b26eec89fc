// Swish (Ramachandran et al., "Searching for Activation Functions", 2017): y = x * s with s = 1 / (1 + exp(-x)), and its
// gradient  dx = dy * s * (1 + x * (1 - s)).
#include "common/elementwise.cuh"

template <typename T, int V, int UNROLL>
__global__ void __launch_bounds__(256) swish_fwd(const T* __restrict__ x, T* __restrict__ y, long long count) {
    map_elements<V, UNROLL, T, 1, 1>({x}, {y}, count, [](const float (&in)[1], float (&out)[1]) {
        out[0] = in[0] * sigmoid(in[0]);
    });
}

template <typename T, int V, int UNROLL>
__global__ void __launch_bounds__(256)
swish_bwd(const T* __restrict__ x, const T* __restrict__ dy, T* __restrict__ dx, long long count) {
    map_elements<V, UNROLL, T, 2, 1>({x, dy}, {dx}, count, [](const float (&in)[2], float (&out)[1]) {
        const float s = sigmoid(in[0]);
        out[0] = in[1] * s * (1.f + in[0] * (1.f - s));
    });
}
