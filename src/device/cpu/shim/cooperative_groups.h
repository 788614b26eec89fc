// thread_block, tiles of up to a warp, coalesced groups, reductions.
#pragma once
namespace cooperative_groups {

struct thread_block {
    static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
    static unsigned num_threads() { return size(); }
    static unsigned thread_rank() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
    static dim3 group_index() { return dim3(blockIdx); }
    static dim3 thread_index() { return dim3(threadIdx); }
    static dim3 group_dim() { return blockDim; }
    static dim3 dim_threads() { return blockDim; }
    void sync(SIMT_AT) const { simt_host.barrier(SIMT_BARRIER, 0, line, file); }
};
inline thread_block this_thread_block() { return thread_block(); }

template <unsigned N, class Parent = void> struct thread_block_tile {
    static_assert(N <= 32 && (N & (N - 1)) == 0, "unsupported on the cpu device: tiles wider than a warp");
    thread_block_tile() = default;
    // A tile that knows its parent's type is one that does not.
    template <class Other> thread_block_tile(const thread_block_tile<N, Other>&) {}
    static constexpr unsigned size() { return N; }
    static constexpr unsigned num_threads() { return N; }
    static unsigned thread_rank() { return thread_block::thread_rank() % N; }
    static unsigned meta_group_rank() { return thread_block::thread_rank() / N; }
    static unsigned meta_group_size() { return (thread_block::size() + N - 1) / N; }
    static unsigned base() { return (thread_block::thread_rank() & 31u) / N * N; }
    static unsigned mask() { return (N == 32 ? SIMT_FULL : (1u << (N & 31u)) - 1u) << base(); }
    void sync(SIMT_AT) const { __syncwarp(mask(), line, file); }
    template <class T> T shfl(T v, int s, SIMT_AT) const { return __shfl_sync(mask(), v, s, (int)N, line, file); }
    template <class T> T shfl_up(T v, unsigned d, SIMT_AT) const { return __shfl_up_sync(mask(), v, d, (int)N, line, file); }
    template <class T> T shfl_down(T v, unsigned d, SIMT_AT) const { return __shfl_down_sync(mask(), v, d, (int)N, line, file); }
    template <class T> T shfl_xor(T v, int x, SIMT_AT) const { return __shfl_xor_sync(mask(), v, x, (int)N, line, file); }
    unsigned ballot(int p, SIMT_AT) const { return __ballot_sync(mask(), p, line, file) >> base(); }
    int any(int p, SIMT_AT) const { return __any_sync(mask(), p, line, file); }
    int all(int p, SIMT_AT) const { return __all_sync(mask(), p, line, file); }
    template <class T> unsigned match_any(T v, SIMT_AT) const { return __match_any_sync(mask(), v, line, file) >> base(); }
};
template <unsigned N, class P> thread_block_tile<N, P> tiled_partition(const P&) { return thread_block_tile<N, P>(); }

struct coalesced_group {
    unsigned mask;
    unsigned size() const { return (unsigned)__popc(mask); }
    unsigned num_threads() const { return size(); }
    unsigned thread_rank() const { return (unsigned)__popc(mask & ((1u << __simt_lane()) - 1u)); }
    void sync(SIMT_AT) const { __syncwarp(mask, line, file); }
    // Lane of the group's thread `rank`.
    int lane(unsigned rank) const {
        unsigned m = mask;
        while (rank--) m &= m - 1;
        return __builtin_ctz(m);
    }
    template <class T> T shfl(T v, unsigned s, SIMT_AT) const { return __shfl_sync(mask, v, lane(s % size()), 32, line, file); }
    unsigned ballot(int p, SIMT_AT) const {
        unsigned all = __ballot_sync(mask, p, line, file), out = 0;
        for (unsigned r = 0; r < size(); ++r) out |= (all >> lane(r) & 1u) << r;
        return out;
    }
    int any(int p, SIMT_AT) const { return __any_sync(mask, p, line, file); }
    int all(int p, SIMT_AT) const { return __all_sync(mask, p, line, file); }
};
SIMT_INL coalesced_group coalesced_threads(SIMT_AT) { return coalesced_group{__activemask(line, file)}; }

template <class T> struct plus { T operator()(T a, T b) const { return a + b; } };
template <class T> struct less { T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T> struct greater { T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T> struct bit_and { T operator()(T a, T b) const { return a & b; } };
template <class T> struct bit_or { T operator()(T a, T b) const { return a | b; } };
template <class T> struct bit_xor { T operator()(T a, T b) const { return a ^ b; } };

template <unsigned N, class P, class T, class F> T reduce(const thread_block_tile<N, P>& g, T v, F f, SIMT_AT) {
    for (int o = (int)N / 2; o; o /= 2) v = f(v, g.shfl_xor(v, o, line, file));
    return v;
}
template <unsigned N, class P, class T, class F> T inclusive_scan(const thread_block_tile<N, P>& g, T v, F f, SIMT_AT) {
    for (unsigned o = 1; o < N; o *= 2) {
        T below = g.shfl_up(v, o, line, file);
        if (g.thread_rank() >= o) v = f(below, v);
    }
    return v;
}
template <unsigned N, class P, class T> T inclusive_scan(const thread_block_tile<N, P>& g, T v, SIMT_AT) {
    return inclusive_scan(g, v, plus<T>(), line, file);
}
template <class G> void sync(const G& g, SIMT_AT) { g.sync(line, file); }

struct grid_group {
    __attribute__((error("unsupported on the cpu device: grid-wide sync (cooperative launch)"))) void sync() const;
};
inline grid_group this_grid() { return grid_group(); }
}  // namespace cooperative_groups
