extern "C" __global__ void read_after(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i + 1];
}
extern "C" __global__ void read_before(const float* x, float* y, int n) {
    y[threadIdx.x] = x[(int)threadIdx.x - 2000];
}
extern "C" __global__ void write_after(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i * 2] = x[i];
}
extern "C" __global__ void write_input(float* x, float* y, int n) {
    if (threadIdx.x == 3) x[2] = y[0];
}
extern "C" __global__ void shared_after(const float* x, float* y, int n) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = s[63 - (threadIdx.x & 63)];
}
extern "C" __global__ void dynamic_after(const float* x, float* y, int n) {
    extern __shared__ float dyn[];
    dyn[threadIdx.x + 1] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = dyn[threadIdx.x];
}
extern "C" __global__ void divergent(const float* x, float* y, int n) {
    if (threadIdx.x & 1) {
        __syncthreads();
        y[threadIdx.x] = 1;
    } else {
        __syncthreads();
        y[threadIdx.x] = 2;
    }
}
extern "C" __global__ void deadlock(const float* x, float* y, int n) {
    float v = x[threadIdx.x];
    if ((threadIdx.x & 31) < 16) v += __shfl_down_sync(0xffffffff, v, 1);
    __syncthreads();
    y[threadIdx.x] = v;
}
__device__ int recurse(int n, volatile int* p) {
    volatile int a[16];
    a[n & 15] = n;
    return n == 0 ? *p : recurse(n - 1, p) + a[n & 15];
}
extern "C" __global__ void overflow(const float* x, float* y, int n) {
    int z = 0;
    y[threadIdx.x] = recurse(1000000, &z);
}
extern "C" __global__ void endless(const float* x, float* y, int n) {
    volatile int go = 1;
    while (go) {
    }
    y[0] = 1;
}
extern "C" __global__ void endless_barrier(const float* x, float* y, int n) {
    for (;;) {
        __syncthreads();
        if (n < 0) break;
    }
    y[0] = 1;
}
extern "C" __global__ void null_write(const float* x, float* y, int n) {
    float* p = n > 0 ? nullptr : y;
    if (threadIdx.x == 7) *p = x[0];
}
extern "C" __global__ void divide(const float* x, float* y, int n) {
    y[threadIdx.x] = n / ((int)threadIdx.x - 3);
}
extern "C" __global__ void bad_mask(const float* x, float* y, int n) {
    y[threadIdx.x] = __shfl_xor_sync(0x0000ffff, x[threadIdx.x], 1);
}
extern "C" __global__ void bad_width(const float* x, float* y, int n) {
    y[threadIdx.x] = __shfl_xor_sync(0xffffffff, x[threadIdx.x], 1, 12);
}
extern "C" __global__ void mixed(const float* x, float* y, int n) {
    if ((threadIdx.x & 31) < 16)
        y[threadIdx.x] = __shfl_xor_sync(0xffffffff, x[0], 1);
    else
        y[threadIdx.x] = __ballot_sync(0xffffffff, n);
}
extern "C" __global__ void failed_assert(const float* x, float* y, int n) {
    assert(threadIdx.x < 100);
    y[threadIdx.x] = 1;
}
extern "C" __global__ void trap(const float* x, float* y, int n) {
    if (threadIdx.x == 5) __trap();
}
extern "C" __global__ void misaligned(const float* x, float* y, int n) {
    *(float4*)(y + 1) = *(const float4*)(x + 1 + threadIdx.x % 2);
}
extern "C" __global__ void library(const float* x, float* y, int n) {
    memcpy(y, x + n, 1 << 20);
}
extern "C" __global__ void prints(const float* x, float* y, int n) {
    if (threadIdx.x < 2) printf("hello from thread %d, x %.1f\n", (int)threadIdx.x, x[threadIdx.x]);
}
