// Matrix product with an optional activation, out = act(a @ b): a [rows, inner], b [inner, cols], float32 accumulation,
// one rounding at the end. Small products run here in one launch; large ones go to the device's library (see
// matmul_cu.lua), and `activate` finishes them.
#include "common/pack.cuh"

// 0: none.
constexpr int LEAKY_RELU = 1, RELU = 2, SIGMOID = 3, TANH = 4;

// NaN passes through all of them, as in PyTorch.
template <int ACTIVATION>
__device__ __forceinline__ float activation(float v) {
    if constexpr (ACTIVATION == LEAKY_RELU) return v < 0.f ? 0.01f * v : v;
    if constexpr (ACTIVATION == RELU) return v < 0.f ? 0.f : v;
    if constexpr (ACTIVATION == SIGMOID) return 1.f / (1.f + __expf(-v));
    if constexpr (ACTIVATION == TANH) return tanhf(v);
    return v;
}

// Whether the slope is lost once the value is rounded: it is then stored beside it.
template <int ACTIVATION>
constexpr bool SATURATES = ACTIVATION == SIGMOID || ACTIVATION == TANH;

// d activation / d input, from the activation's own value; 0 has the slope that PyTorch gives it.
template <int ACTIVATION>
__device__ __forceinline__ float slope(float out) {
    if constexpr (ACTIVATION == LEAKY_RELU) return out > 0.f ? 1.f : 0.01f;
    if constexpr (ACTIVATION == RELU) return out > 0.f ? 1.f : 0.f;
    if constexpr (ACTIVATION == SIGMOID) return out * (1.f - out);
    if constexpr (ACTIVATION == TANH) return 1.f - out * out;
    return 1.f;
}

// Block 256 threads, grid {cols / 64, rows / 64} rounded up. Each block makes a 64 x 64 tile of the output, each thread
// 4 x 4 of it, going through `inner` 16 at a time in shared memory (a transposed, so that both operands of the inner
// product are read along a row). Any sizes: what lies outside the matrices counts as 0.
template <typename T, int ACTIVATION>
__global__ void __launch_bounds__(256)
matmul_tile(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ out, T* __restrict__ slopes,
            int rows, int cols, int inner) {
    constexpr int TILE = 64, DEPTH = 16;
    __shared__ float a_tile[DEPTH][TILE + 4];
    __shared__ float b_tile[DEPTH][TILE];
    const int top = blockIdx.y * TILE, left = blockIdx.x * TILE;
    const int thread = threadIdx.x, y = thread / 16 * 4, x = thread % 16 * 4;
    float sum[4][4] = {};
    for (int depth = 0; depth < inner; depth += DEPTH) {
#pragma unroll
        for (int part = thread; part < TILE * DEPTH; part += 256) {
            const int ar = top + part / DEPTH, ac = depth + part % DEPTH;
            const int br = depth + part / TILE, bc = left + part % TILE;
            a_tile[part % DEPTH][part / DEPTH] =
                ar < rows && ac < inner ? to_float(a[static_cast<long long>(ar) * inner + ac]) : 0.f;
            b_tile[part / TILE][part % TILE] =
                br < inner && bc < cols ? to_float(b[static_cast<long long>(br) * cols + bc]) : 0.f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; ++k) {
            float left_values[4], right_values[4];
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                left_values[j] = a_tile[k][y + j];
                right_values[j] = b_tile[k][x + j];
            }
#pragma unroll
            for (int i = 0; i < 4; ++i) {
#pragma unroll
                for (int j = 0; j < 4; ++j) sum[i][j] += left_values[i] * right_values[j];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int row = top + y + i, col = left + x + j;
            if (row < rows && col < cols) {
                const long long at = static_cast<long long>(row) * cols + col;
                const float value = activation<ACTIVATION>(sum[i][j]);
                round_to(out[at], value);
                if constexpr (SATURATES<ACTIVATION>) round_to(slopes[at], slope<ACTIVATION>(value));
            }
        }
    }
}

// In place over `count` elements; one pack of V per thread, the last count % V elements by block 0, one per thread.
template <typename T, int V, int ACTIVATION>
__global__ void __launch_bounds__(256)
activate(T* out, T* __restrict__ slopes, long long count) {
    const long long pack = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x, packs = count / V;
    if (pack < packs) {
        float v[V], s[V];
        load_floats<V>(out + pack * V, v);
#pragma unroll
        for (int k = 0; k < V; ++k) {
            v[k] = activation<ACTIVATION>(v[k]);
            s[k] = slope<ACTIVATION>(v[k]);
        }
        store_floats<V>(out + pack * V, v);
        if constexpr (SATURATES<ACTIVATION>) store_floats<V>(slopes + pack * V, s);
    }
    const long long last = packs * V + threadIdx.x;
    if (blockIdx.x == 0 && last < count) {
        const float value = activation<ACTIVATION>(to_float(out[last]));
        round_to(out[last], value);
        if constexpr (SATURATES<ACTIVATION>) round_to(slopes[last], slope<ACTIVATION>(value));
    }
}

// dz = dout * slope over `count` elements, laid out as in `activate`; `saved` holds slopes where they are stored, else
// the activation's values.
template <typename T, int V, int ACTIVATION>
__global__ void __launch_bounds__(256)
activate_bwd(const T* __restrict__ saved, const T* __restrict__ dout, T* __restrict__ dz, long long count) {
    const auto times_slope = [](float d, float s) { return d * (SATURATES<ACTIVATION> ? s : slope<ACTIVATION>(s)); };
    const long long pack = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x, packs = count / V;
    if (pack < packs) {
        float s[V], d[V];
        load_floats<V>(saved + pack * V, s);
        load_floats<V>(dout + pack * V, d);
#pragma unroll
        for (int k = 0; k < V; ++k) d[k] = times_slope(d[k], s[k]);
        store_floats<V>(dz + pack * V, d);
    }
    const long long last = packs * V + threadIdx.x;
    if (blockIdx.x == 0 && last < count) {
        round_to(dz[last], times_slope(to_float(dout[last]), to_float(saved[last])));
    }
}
