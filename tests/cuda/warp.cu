// Every warp and block operation, with masks, widths and partial warps. Each thread writes a row of results.
extern "C" __global__ void shuffles(int* out, int n) {
    int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x, lane = t & 31;
    unsigned mask = n - (t & ~31) >= 32 ? 0xffffffffu : (1u << (n & 31)) - 1u;
    int* row = out + t * 8;
    row[0] = __shfl_sync(mask, t, 3);
    row[1] = __shfl_up_sync(mask, t, 2);
    row[2] = __shfl_down_sync(mask, t, 1);
    row[3] = __shfl_xor_sync(mask, t, 1);
    row[4] = __shfl_sync(mask, t, 11, 8);
    row[5] = __shfl_up_sync(mask, t, 3, 16);
    row[6] = __shfl_down_sync(mask, t, 5, 8);
    row[7] = __shfl_xor_sync(mask, t, 4, 8);
    (void)lane;
}

extern "C" __global__ void halves(int* out) {
    int t = threadIdx.x, lane = t & 31;
    int r;
    if (lane < 16) {
        r = __shfl_xor_sync(0x0000ffff, lane * 10, 1);
        r += __reduce_add_sync(0x0000ffff, 1);
    } else {
        r = __shfl_down_sync(0xffff0000, lane * 10, 1);
        r += (int)__ballot_sync(0xffff0000, lane & 1) & 0xff0000;
    }
    __syncwarp();
    out[t] = r;
}

extern "C" __global__ void votes(int* out, int n) {
    int t = threadIdx.x, lane = t & 31;
    int* row = out + t * 16;
    row[0] = (int)__ballot_sync(0xffffffff, t % 3 == 0);
    row[1] = __any_sync(0xffffffff, t == 5);
    row[2] = __all_sync(0xffffffff, t < 64);
    row[3] = (int)__match_any_sync(0xffffffff, lane / 5);
    int pred;
    row[4] = (int)__match_all_sync(0xffffffff, t >> 5, &pred);
    row[5] = pred;
    row[6] = (int)__match_all_sync(0xffffffff, t, &pred) + pred;
    row[7] = __reduce_add_sync(0xffffffff, t);
    row[8] = __reduce_min_sync(0xffffffff, -t);
    row[9] = (int)__reduce_max_sync(0xffffffff, (unsigned)-t);
    row[10] = (int)__reduce_xor_sync(0xffffffff, (unsigned)t);
    row[11] = __syncthreads_count(t & 1);
    row[12] = __syncthreads_and(t < n - 1) * 2 + __syncthreads_or(t == n - 1);
    unsigned active = 0;
    if (t % 2) active = __activemask();
    __syncwarp();
    row[13] = (int)active;
    row[14] = (int)(__shfl_xor_sync(0xffffffff, (long long)lane << 40, 31) >> 40);
    row[15] = (int)__shfl_xor_sync(0xffffffff, (double)lane, 5);
}

// Threads above n leave before the barrier.
extern "C" __global__ void leavers(const float* in, float* out, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    if (t >= n) return;
    s[t] = in[t];
    __syncthreads();
    out[t] = s[n - 1 - t];
}

__device__ unsigned lock_word = 0;
__device__ unsigned blocks_done = 0;
extern "C" __global__ void spin_lock(int* counter, int* last) {
    bool leave = false;
    while (!leave) {
        if (atomicCAS(&lock_word, 0u, 1u) == 0u) {
            *(volatile int*)counter = *(volatile int*)counter + 1;
            __threadfence();
            atomicExch(&lock_word, 0u);
            leave = true;
        }
    }
    __shared__ bool is_last;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        is_last = atomicAdd(&blocks_done, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) *last = *(volatile int*)counter;
}

// A consumer thread before its producer: only a yield makes it progress.
extern "C" __global__ void handover(unsigned* flag, int* out) {
    if (threadIdx.x == 0) {
        while (atomicCAS(flag, 1u, 2u) != 1u) __nanosleep(10);
        out[0] = 7;
    } else if (threadIdx.x == 40) {
        atomicExch(flag, 1u);
    }
}

// Where am I, in three dimensions of grid and block.
extern "C" __global__ void indices(int* out) {
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int threads = blockDim.x * blockDim.y * blockDim.z;
    out[block * threads + thread] += block * 1000 + thread + 1;
}

template <typename T, int N> __global__ void reverse(const T* in, T* out) {
    __shared__ T fixed[N];
    extern __shared__ __align__(16) unsigned char raw[];
    T* dynamic = reinterpret_cast<T*>(raw);
    fixed[threadIdx.x] = in[threadIdx.x];
    dynamic[threadIdx.x] = in[N - 1 - threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = fixed[N - 1 - threadIdx.x] == dynamic[threadIdx.x] ? fixed[N - 1 - threadIdx.x] : T(-1);
}

// The last element of dynamic shared memory, to its limit.
extern "C" __global__ void all_shared(int* out, int len) {
    extern __shared__ int ints[];
    for (int i = threadIdx.x; i < len; i += blockDim.x) ints[i] = i;
    __syncthreads();
    int sum = 0;
    for (int i = threadIdx.x; i < len; i += blockDim.x) sum += ints[len - 1 - i] == len - 1 - i;
    atomicAdd(out, sum);
}

struct Config {
    int a;
    float b;
    long long c;
    char pad[40];
};
extern "C" __global__ void by_value(Config c, float* out) {
    out[threadIdx.x] = c.a + c.b * threadIdx.x + (float)c.c;
}

enum class Mode : unsigned char { add, mul };
__constant__ float table[4] = {1.f, 2.f, 4.f, 8.f};
template <class T>
__global__ void parameters(const float* a, float4* b, void* c, const T* __restrict__ d, long long e, unsigned short f,
                           const bool g, double h, Mode m, const Config s, signed char k) {
    b->x = a[0] + (float)d[0] + e + f + g + (float)h + (m == Mode::mul) + s.a + k + table[2] + (c == nullptr);
}

extern "C" __global__ void atomics(int* i, unsigned* u, unsigned long long* l, float* f, double* d) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&i[0], 1);
    atomicSub(&i[1], 2);
    atomicMin(&i[2], -t);
    atomicMax(&i[3], t);
    atomicOr(&u[0], 1u << (t & 31));
    atomicAnd(&u[1], ~(1u << (t & 31)));
    atomicXor(&u[2], 1u << (t & 31));
    atomicInc(&u[3], 9u);
    atomicDec(&u[4], 9u);
    atomicMax_block(&u[5], (unsigned)t);
    atomicAdd(&l[0], 1ull << 33);
    atomicMax(&l[1], (unsigned long long)t << 32);
    atomicAdd_system(&f[0], 0.5f);
    atomicExch(&f[1], 3.0f);
    atomicAdd(&d[0], 0.25);
}
