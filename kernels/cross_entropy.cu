// Cross entropy of logits [rows, vocab] with integer labels [rows], as torch.nn.functional.cross_entropy defines it.
// With m = max(x), s = sum exp(x - m), lse = m + log(s) and smoothing e, the loss of a row with label l is
//   (1 - e) * (lse - x[l]) + e * (lse - mean(x)),   0 where l == ignore_index (then the row is not read),
// and its gradient  exp(x - m) / s - (1 - e) * [j == l] - e / vocab.  "mean" divides by the rows not ignored.
// A label outside [0, vocab) that is not ignore_index has no loss: NaN, in the gradient of its row too.
#include "common/online_softmax.cuh"

// Any grid: blocks step over the rows (block shape: common/row.cuh). `top` and `inverse` [rows] (m and 1 / s) are
// kept for backward.
template <typename T, int V, int TPR, bool SMOOTH>
__global__ void __launch_bounds__(block_threads(TPR))
cross_entropy_fwd(const T* __restrict__ logits, const long long* __restrict__ labels, float* __restrict__ loss,
                  float* __restrict__ top, float* __restrict__ inverse, int rows, int vocab, long long ignore_index,
                  float smoothing) {
    __shared__ float scratch[2][2 * REDUCE_FLOATS];
    __shared__ float total_scratch[2][REDUCE_FLOATS];
    int turn = 0;
    for (int first = blockIdx.x * blockDim.y; first < rows; first += gridDim.x * blockDim.y, turn ^= 1) {
        const int row = first + threadIdx.y;
        const long long label = row < rows ? labels[row] : ignore_index;
        const int length = label != ignore_index ? vocab : 0;
        const T* x = logits + static_cast<long long>(row) * vocab;
        OnlineSoftmax state;
        float total = 0.f;
        state.template scan<T, V, TPR, SMOOTH>(x, length, total);
        state.template join<TPR>(scratch[turn]);
        if constexpr (SMOOTH) total = row_sum<TPR>(total, total_scratch[turn]);
        if (threadIdx.x != 0 || row >= rows) continue;
        float value = 0.f;
        if (label != ignore_index) {
            const bool known = label >= 0 && label < vocab;
            const float log_sum = logf(state.sum);
            value = known ? log_sum + (state.max - to_float(x[label])) : quiet_nan();
            if constexpr (SMOOTH) {
                value = (1.f - smoothing) * value + smoothing * (log_sum + (state.max - total / vocab));
            }
        }
        loss[row] = value;
        top[row] = state.max;
        inverse[row] = 1.f / state.sum;
    }
}

// Sum (or mean) of the rows' losses in a fixed order, and the number of rows not ignored. One block of 1024 or fewer
// threads, a multiple of 32. All rows ignored and MEAN gives 0 / 0 = NaN, as in PyTorch.
template <int THREADS, bool MEAN>
__global__ void __launch_bounds__(THREADS)
cross_entropy_reduce(const float* __restrict__ loss, const long long* __restrict__ labels, float* __restrict__ out,
                     float* __restrict__ counted, int rows, long long ignore_index) {
    __shared__ float scratch[2 * REDUCE_FLOATS];
    float sum = 0.f, count = 0.f;
    for (int row = threadIdx.x; row < rows; row += THREADS) {
        sum += loss[row];
        count += labels[row] != ignore_index ? 1.f : 0.f;
    }
    row_sum2<THREADS>(sum, count, scratch);
    if (threadIdx.x != 0) return;
    out[0] = MEAN ? sum / count : sum;
    counted[0] = count;
}

// Gradient of the logits. Grid {rows, chunks}, block any multiple of 32: the blocks of a row share it by packs.
// `dy` is per row if PER_ROW, else one value; `counted` is null except for "mean".
template <typename T, int V, bool PER_ROW>
__global__ void __launch_bounds__(256)
cross_entropy_bwd(const T* __restrict__ logits, const long long* __restrict__ labels, const float* __restrict__ top,
                  const float* __restrict__ inverse, const float* __restrict__ counted, const float* __restrict__ dy,
                  T* __restrict__ dlogits, int vocab, long long ignore_index, float smoothing) {
    const int row = blockIdx.x;
    const long long label = labels[row], start = static_cast<long long>(row) * vocab;
    const bool ignored = label == ignore_index, known = label >= 0 && label < vocab;
    float scale = dy[PER_ROW ? row : 0];
    if (counted) scale /= counted[0];
    if (!known) scale = quiet_nan();
    const float m = top[row], share = inverse[row], smooth = smoothing / vocab;
    const int step = static_cast<int>(gridDim.y * blockDim.x) * V;
#pragma unroll 4
    for (int i = static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x) * V; i < vocab; i += step) {
        float v[V] = {};
        if (!ignored) {
            load_floats<V>(logits + start + i, v);
#pragma unroll
            for (int k = 0; k < V; ++k) {
                const float target = i + k == label ? 1.f - smoothing + smooth : smooth;
                v[k] = scale * (__expf(v[k] - m) * share - target);
            }
        }
        store_floats<V>(dlogits + start + i, v);
    }
}
