#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void half_to_float(const __half* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __half2float(in[i]);
}
extern "C" __global__ void bf16_to_float(const __nv_bfloat16* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __bfloat162float(in[i]);
}
extern "C" __global__ void float_to_half(const float* in, __half* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __float2half(in[i]);
}
extern "C" __global__ void float_to_bf16(const float* in, __nv_bfloat16* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __float2bfloat16(in[i]);
}
extern "C" __global__ void double_to_both(const double* in, __half* h, __nv_bfloat16* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        h[i] = __half(in[i]);
        b[i] = __nv_bfloat16(in[i]);
    }
}
// Sum, difference, product, quotient and fused multiply-add of pairs.
template <class T> __global__ void arithmetic(const T* a, const T* b, T* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i * 5] = a[i] + b[i];
        out[i * 5 + 1] = __hsub(a[i], b[i]);
        out[i * 5 + 2] = a[i] * b[i];
        out[i * 5 + 3] = __hdiv(a[i], b[i]);
        out[i * 5 + 4] = __hfma(a[i], b[i], b[i]);
    }
}
// The functions that kernels commonly use, in pairs.
extern "C" __global__ void pairs(const half2* in, half2* out, const __nv_bfloat162* bin, __nv_bfloat162* bout, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    float2 f = __half22float2(__ldg(&in[i]));
    half2 s = __floats2half2_rn(f.x * 2.0f, f.y * 2.0f);
    s = __hadd2(s, __float2half2_rn(1.0f));
    s = __hmul2(s, __halves2half2(__low2half(s), __high2half(s)));
    out[i] = __hmax2(s, __hneg2(s));
    float2 b = __bfloat1622float2(bin[i]);
    __nv_bfloat162 r = __float22bfloat162_rn(make_float2(b.y, b.x));
    r += __floats2bfloat162_rn(1.0f, 1.0f);
    __stcs(&bout[i], r);
}
extern "C" __global__ void narrow_atomics(__half* h, __half2* h2, __nv_bfloat16* b) {
    atomicAdd(h, __float2half(1.0f));
    atomicAdd(h2, __floats2half2_rn(1.0f, 2.0f));
    atomicAdd(b, __float2bfloat16(1.0f));
}
