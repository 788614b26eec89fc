// RMS normalization the plain way, for comparison with rms_norm.cu: one block per row, one element at a time, two passes
// over memory, a textbook tree reduction. Formulas: see rms_norm.cu. Block: 128 threads; grid: rows, or columns / 128.
#include "common/pack.cuh"

constexpr int THREADS = 128;

__device__ float tree_sum(float v) {
    __shared__ float values[THREADS];
    __syncthreads();
    values[threadIdx.x] = v;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    }
    __syncthreads();
    return values[0];
}

template <typename T>
__global__ void rms_norm_plain_fwd(const T* x, const T* weight, const T* bias, T* y, float* rstd, int n, float eps) {
    const long long start = static_cast<long long>(blockIdx.x) * n;
    float squares = 0.f;
    for (int i = threadIdx.x; i < n; i += THREADS) {
        const float v = to_float(x[start + i]);
        squares += v * v;
    }
    const float scale = rsqrtf(tree_sum(squares) / n + eps);
    for (int i = threadIdx.x; i < n; i += THREADS) {
        const float shift = bias ? to_float(bias[i]) : 0.f;
        round_to(y[start + i], to_float(x[start + i]) * scale * to_float(weight[i]) + shift);
    }
    if (threadIdx.x == 0) rstd[blockIdx.x] = scale;
}

template <typename T>
__global__ void rms_norm_plain_bwd(const T* x, const T* weight, const T* dy, const float* rstd, T* dx, int n) {
    const long long start = static_cast<long long>(blockIdx.x) * n;
    const float scale = rstd[blockIdx.x];
    float dot = 0.f;
    for (int i = threadIdx.x; i < n; i += THREADS) {
        dot += to_float(dy[start + i]) * to_float(weight[i]) * to_float(x[start + i]) * scale;
    }
    const float mean_dot = tree_sum(dot) / n;
    for (int i = threadIdx.x; i < n; i += THREADS) {
        const float g = to_float(dy[start + i]) * to_float(weight[i]);
        round_to(dx[start + i], scale * (g - to_float(x[start + i]) * scale * mean_dot));
    }
}

// One thread per column; `d_bias` may be null.
template <typename T>
__global__ void rms_norm_plain_bwd_params(const T* x, const T* dy, const float* rstd, T* d_weight, T* d_bias, int rows,
                                          int n) {
    const int column = blockIdx.x * THREADS + threadIdx.x;
    if (column >= n) return;
    float weight_sum = 0.f, bias_sum = 0.f;
    for (int row = 0; row < rows; ++row) {
        const long long at = static_cast<long long>(row) * n + column;
        weight_sum += to_float(dy[at]) * to_float(x[at]) * rstd[row];
        bias_sum += to_float(dy[at]);
    }
    round_to(d_weight[column], weight_sum);
    if (d_bias) round_to(d_bias[column], bias_sum);
}
