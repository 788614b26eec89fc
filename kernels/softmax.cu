// Softmax over the last dim: y = exp(x - m) / s with m = max(x), s = sum exp(x - m), and its gradient
//   dx = y * (dy - sum(dy * y)).
// Backward takes x, m and 1 / s rather than the rounded y: the same traffic, and 1 - y does not cancel in half precision.
// Tensors are [rows, n], row-major; V, TPR, PACKS and the block shape are those of common/row.cuh.
#include "common/online_softmax.cuh"

// Any grid: blocks step over the rows. `top` and `inverse` [rows] (m and 1 / s) are kept for backward.
template <typename T, int V, int TPR, int PACKS>
__global__ void __launch_bounds__(block_threads(TPR), resident_blocks(TPR, PACKS * V))
softmax_fwd(const T* __restrict__ x, T* __restrict__ y, float* __restrict__ top, float* __restrict__ inverse, int rows,
            int n) {
    __shared__ float scratch[2][2 * REDUCE_FLOATS];
    int turn = 0;
    for (int first = blockIdx.x * blockDim.y; first < rows; first += gridDim.x * blockDim.y, turn ^= 1) {
        const int row = first + threadIdx.y;
        const int length = row < rows ? n : 0;
        const long long start = static_cast<long long>(row) * n;
        OnlineSoftmax state;
        if constexpr (PACKS > 0) {
            // Each thread takes exponentials once, relative to its own maximum, and corrects by one factor at the end.
            float e[PACKS][V];
            each_pack<V, TPR, PACKS>(length, [&](int p, int i) { load_floats<V>(x + start + i, e[p]); });
            each_pack<V, TPR, PACKS>(length, [&](int p, int) {
#pragma unroll
                for (int k = 0; k < V; ++k) state.max = fmaxf(state.max, e[p][k]);
            });
            const float own = state.max, shift = own == -infinity() ? 0.f : own;
            each_pack<V, TPR, PACKS>(length, [&](int p, int) {
#pragma unroll
                for (int k = 0; k < V; ++k) {
                    e[p][k] = __expf(e[p][k] - shift);
                    state.sum += e[p][k];
                }
            });
            state.template join<TPR>(scratch[turn]);
            const float factor = __expf(own - state.max) / state.sum;
            each_pack<V, TPR, PACKS>(length, [&](int p, int i) {
#pragma unroll
                for (int k = 0; k < V; ++k) e[p][k] *= factor;
                store_floats<V>(y + start + i, e[p]);
            });
        } else {
            float unused = 0.f;
            state.template scan<T, V, TPR, false>(x + start, length, unused);
            state.template join<TPR>(scratch[turn]);
            const float scale = 1.f / state.sum;
            each_pack<V, TPR, 0>(length, [&](int, int i) {
                float v[V];
                load_floats<V>(x + start + i, v);
#pragma unroll
                for (int k = 0; k < V; ++k) v[k] = __expf(v[k] - state.max) * scale;
                store_floats<V>(y + start + i, v);
            });
        }
        if (threadIdx.x == 0 && row < rows) {
            top[row] = state.max;
            inverse[row] = 1.f / state.sum;
        }
    }
}

// Any grid: blocks step over the rows.
template <typename T, int V, int TPR, int PACKS>
__global__ void __launch_bounds__(block_threads(TPR), resident_blocks(TPR, PACKS * V * (4 + sizeof(T)) / 4))
softmax_bwd(const T* __restrict__ x, const float* __restrict__ top, const float* __restrict__ inverse,
            const T* __restrict__ dy, T* __restrict__ dx, int rows, int n) {
    __shared__ float scratch[2][REDUCE_FLOATS];
    int turn = 0;
    for (int first = blockIdx.x * blockDim.y; first < rows; first += gridDim.x * blockDim.y, turn ^= 1) {
        const int row = first + threadIdx.y;
        const int length = row < rows ? n : 0;
        const long long start = static_cast<long long>(row) * n;
        const float m = row < rows ? top[row] : 0.f, scale = row < rows ? inverse[row] : 0.f;
        Row<T, V, TPR, PACKS> xs, gs;
        xs.open(x + start, length);
        gs.open(dy + start, length);
        float y[PACKS > 0 ? PACKS : 1][V];
        float dot = 0.f;
        each_pack<V, TPR, PACKS>(length, [&](int p, int i) {
            float g[V];
            xs.get(p, i, y[p]);
            gs.get(p, i, g);
#pragma unroll
            for (int k = 0; k < V; ++k) {
                y[p][k] = __expf(y[p][k] - m) * scale;
                dot += g[k] * y[p][k];
            }
        });
        dot = row_sum<TPR>(dot, scratch[turn]);
        each_pack<V, TPR, PACKS>(length, [&](int p, int i) {
            float g[V];
            gs.get(p, i, g);
            if constexpr (PACKS == 0) {  // not held: once more from memory
                xs.get(p, i, y[p]);
#pragma unroll
                for (int k = 0; k < V; ++k) y[p][k] = __expf(y[p][k] - m) * scale;
            }
#pragma unroll
            for (int k = 0; k < V; ++k) g[k] = y[p][k] * (g[k] - dot);
            store_floats<V>(dx + start + i, g);
        });
    }
}
