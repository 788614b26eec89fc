// Squared rectifier (So et al., "Primer", 2021): y = r^2 with r = max(x, 0), and its gradient  dx = 2 * dy * r. NaN stays
// NaN, which fmaxf would drop.
#include "common/elementwise.cuh"

template <typename T, int V, int UNROLL>
__global__ void __launch_bounds__(256) sqrelu_fwd(const T* __restrict__ x, T* __restrict__ y, long long count) {
    map_elements<V, UNROLL, T, 1, 1>({x}, {y}, count, [](const float (&in)[1], float (&out)[1]) {
        const float r = in[0] <= 0.f ? 0.f : in[0];
        out[0] = r * r;
    });
}

template <typename T, int V, int UNROLL>
__global__ void __launch_bounds__(256)
sqrelu_bwd(const T* __restrict__ x, const T* __restrict__ dy, T* __restrict__ dx, long long count) {
    map_elements<V, UNROLL, T, 2, 1>({x, dy}, {dx}, count, [](const float (&in)[2], float (&out)[1]) {
        const float r = in[0] <= 0.f ? 0.f : in[0];
        out[0] = 2.f * in[1] * r;
    });
}
