// Layer normalization over the last dim: y = xhat * weight (+ bias), xhat = (x - mean) * rstd, rstd = (var + eps)^-1/2
// with the biased variance (Ba, Kiros and Hinton, "Layer Normalization", 2016), and its gradient. With g = dy * weight:
//   dx = rstd * (g - mean(g) - xhat * mean(g * xhat)),  d_weight = sum of dy * xhat,  d_bias = sum of dy over rows.
// The variance is a second pass over the row (in registers where it fits), not E[x^2] - mean^2, which cancels.
// Tensors are [rows, n], row-major; V, TPR, PACKS and the block shape are those of common/row.cuh.
#include "common/norm_weight.cuh"
#include "common/row.cuh"

// Any grid: blocks step over the rows. `mean` and `rstd` [rows] are kept for backward; `bias` may be null.
template <typename T, int V, int TPR, int PACKS>
__global__ void __launch_bounds__(block_threads(TPR), resident_blocks(TPR, PACKS * V * sizeof(T) / 4))
layer_norm_fwd(const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ bias, T* __restrict__ y,
               float* __restrict__ mean, float* __restrict__ rstd, int rows, int n, float eps) {
    __shared__ float scratch[2][REDUCE_FLOATS];
    for (int first = blockIdx.x * blockDim.y; first < rows; first += gridDim.x * blockDim.y) {
        const int row = first + threadIdx.y;
        const int length = row < rows ? n : 0;
        const long long start = static_cast<long long>(row) * n;
        Row<T, V, TPR, PACKS> xs;
        xs.open(x + start, length);
        float sum = 0.f;
        each_pack<V, TPR, PACKS>(length, [&](int p, int i) {
            float v[V];
            xs.get(p, i, v);
#pragma unroll
            for (int k = 0; k < V; ++k) sum += v[k];
        });
        const float center = row_sum<TPR>(sum, scratch[0]) / n;
        float squares = 0.f;
        each_pack<V, TPR, PACKS>(length, [&](int p, int i) {
            float v[V];
            xs.get(p, i, v);
#pragma unroll
            for (int k = 0; k < V; ++k) squares += (v[k] - center) * (v[k] - center);
        });
        const float scale = rsqrtf(row_sum<TPR>(squares, scratch[1]) / n + eps);
        if (threadIdx.x == 0 && row < rows) {
            mean[row] = center;
            rstd[row] = scale;
        }
        each_pack<V, TPR, PACKS>(length, [&](int p, int i) {
            float v[V], w[V], b[V] = {};
            xs.get(p, i, v);
            load_floats<V>(weight + i, w);
            if (bias) load_floats<V>(bias + i, b);
#pragma unroll
            for (int k = 0; k < V; ++k) v[k] = (v[k] - center) * scale * w[k] + b[k];
            store_floats<V>(y + start + i, v);
        });
    }
}

// Gradient of x, and with PARTS (1: weight, 2: weight and bias; needs PACKS > 0) the partial sums of the
// parameters' gradients: row blockIdx.x * blockDim.y + threadIdx.y of [gridDim.x * blockDim.y, n].
template <typename T, int V, int TPR, int PACKS, int PARTS>
__global__ void __launch_bounds__(block_threads(TPR), resident_blocks(TPR, PACKS * V * (sizeof(T) / 2 + PARTS)))
layer_norm_bwd(const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ dy,
               const float* __restrict__ mean, const float* __restrict__ rstd, T* __restrict__ dx,
               float* __restrict__ weight_parts, float* __restrict__ bias_parts, int rows, int n) {
    static_assert(PARTS == 0 || PACKS > 0, "partial sums live beside a row held in registers");
    __shared__ float scratch[2][2 * REDUCE_FLOATS];
    float weight_sum[PARTS > 0 ? PACKS : 1][V] = {};
    float bias_sum[PARTS > 1 ? PACKS : 1][V] = {};
    int turn = 0;
    for (int first = blockIdx.x * blockDim.y; first < rows; first += gridDim.x * blockDim.y, turn ^= 1) {
        const int row = first + threadIdx.y;
        const int length = row < rows ? n : 0;
        const long long start = static_cast<long long>(row) * n;
        Row<T, V, TPR, PACKS> xs, gs;
        xs.open(x + start, length);
        gs.open(dy + start, length);
        const float center = row < rows ? mean[row] : 0.f;
        const float scale = row < rows ? rstd[row] : 0.f;
        float sum = 0.f, dot = 0.f;
        each_pack<V, TPR, PACKS>(length, [&](int p, int i) {
            float v[V], g[V], w[V];
            xs.get(p, i, v);
            gs.get(p, i, g);
            load_floats<V>(weight + i, w);
#pragma unroll
            for (int k = 0; k < V; ++k) {
                const float xhat = (v[k] - center) * scale;
                if constexpr (PARTS > 0) weight_sum[p][k] += g[k] * xhat;
                if constexpr (PARTS > 1) bias_sum[p][k] += g[k];
                sum += g[k] * w[k];
                dot += g[k] * w[k] * xhat;
            }
        });
        row_sum2<TPR>(sum, dot, scratch[turn]);
        const float mean_g = sum / n, mean_dot = dot / n;
        each_pack<V, TPR, PACKS>(length, [&](int p, int i) {
            float v[V], g[V], w[V];
            xs.get(p, i, v);
            gs.get(p, i, g);
            load_floats<V>(weight + i, w);
#pragma unroll
            for (int k = 0; k < V; ++k) v[k] = scale * (g[k] * w[k] - mean_g - (v[k] - center) * scale * mean_dot);
            store_floats<V>(dx + start + i, v);
        });
    }
    if constexpr (PARTS > 0) {
        const long long out = static_cast<long long>(blockIdx.x * blockDim.y + threadIdx.y) * n;
        each_pack<V, TPR, PACKS>(n, [&](int p, int i) {
#pragma unroll
            for (int k = 0; k < V; ++k) {
                weight_parts[out + i + k] = weight_sum[p][k];
                if constexpr (PARTS > 1) bias_parts[out + i + k] = bias_sum[p][k];
            }
        });
    }
}
