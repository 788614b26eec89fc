// GELU (Hendrycks and Gimpel, 2016), exact or by its tanh approximation (TANH), and its gradient.
#include "common/gelu.cuh"

template <typename T, int V, int UNROLL, bool TANH>
__global__ void __launch_bounds__(256) gelu_fwd(const T* __restrict__ x, T* __restrict__ y, long long count) {
    map_elements<V, UNROLL, T, 1, 1>({x}, {y}, count, [](const float (&in)[1], float (&out)[1]) {
        out[0] = in[0] * (TANH ? tanh_cdf(in[0]) : normal_cdf(in[0])).value;
    });
}

template <typename T, int V, int UNROLL, bool TANH>
__global__ void __launch_bounds__(256)
gelu_bwd(const T* __restrict__ x, const T* __restrict__ dy, T* __restrict__ dx, long long count) {
    map_elements<V, UNROLL, T, 2, 1>({x, dy}, {dx}, count, [](const float (&in)[2], float (&out)[1]) {
        const Cdf c = TANH ? tanh_cdf(in[0]) : normal_cdf(in[0]);
        out[0] = in[1] * (c.value + in[0] * c.derivative);
    });
}
