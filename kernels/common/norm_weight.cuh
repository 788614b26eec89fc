// Gradients of a normalization's weight and bias: sums over all rows, in two stages and a fixed order, so that
// equal inputs give equal bits. Stage one writes partial sums in float32, [parts, n]; stage two adds the parts.
//   d_weight[j] = sum_r dy[r, j] * (x[r, j] - mean[r]) * rstd[r]        d_bias[j] = sum_r dy[r, j]
// Short rows get stage one for free inside the backward kernel; `norm_weight_parts` is for rows too long for that.
#pragma once
#include "pack.cuh"

// Block {32, 8}, grid {columns / (32 V) rounded up, parts / 8 rounded up}: each thread adds V columns over the rows
// part, part + parts, … A null mean stands for zeros; a null d_bias is not wanted.
template <typename T, int V>
__global__ void __launch_bounds__(256)
norm_weight_parts(const T* __restrict__ x, const T* __restrict__ dy, const float* __restrict__ mean,
                  const float* __restrict__ rstd, float* __restrict__ weight_parts, float* __restrict__ bias_parts,
                  int rows, int n, int parts) {
    const int column = static_cast<int>(blockIdx.x * 32 + threadIdx.x) * V;
    const int part = static_cast<int>(blockIdx.y * 8 + threadIdx.y);
    if (column >= n || part >= parts) return;
    float weight_sum[V] = {}, bias_sum[V] = {};
#pragma unroll 4
    for (int row = part; row < rows; row += parts) {
        const long long at = static_cast<long long>(row) * n + column;
        float xs[V], gs[V];
        load_floats<V>(x + at, xs);
        load_floats<V>(dy + at, gs);
        const float center = mean ? mean[row] : 0.f, scale = rstd[row];
#pragma unroll
        for (int k = 0; k < V; ++k) {
            weight_sum[k] += gs[k] * ((xs[k] - center) * scale);
            bias_sum[k] += gs[k];
        }
    }
    const long long out = static_cast<long long>(part) * n + column;
#pragma unroll
    for (int k = 0; k < V; ++k) weight_parts[out + k] = weight_sum[k];
    if (bias_parts) {
#pragma unroll
        for (int k = 0; k < V; ++k) bias_parts[out + k] = bias_sum[k];
    }
}

// Adds `parts` rows of [parts, n] and rounds to T. Block {32, LANES}, grid n / 32 rounded up: 32 columns per block,
// thread row y takes the parts y, y + LANES, …
template <typename T, int LANES>
__global__ void __launch_bounds__(32 * LANES)
sum_parts(const float* __restrict__ parts_of, T* __restrict__ out, int parts, int n) {
    __shared__ float sums[LANES][32];
    const int column = static_cast<int>(blockIdx.x * 32 + threadIdx.x);
    float sum = 0.f;
    if (column < n) {
#pragma unroll 8
        for (int part = threadIdx.y; part < parts; part += LANES) sum += parts_of[static_cast<long long>(part) * n + column];
    }
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y != 0 || column >= n) return;
    sum = 0.f;
#pragma unroll
    for (int lane = 0; lane < LANES; ++lane) sum += sums[lane][threadIdx.x];
    round_to(out[column], sum);
}
