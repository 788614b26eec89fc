// __nv_bfloat16 and __nv_bfloat162: the upper half of a float; arithmetic in float, rounded once per operation.
#pragma once
#include "cuda_fp16.h"

struct __attribute__((aligned(2))) __nv_bfloat16_raw { unsigned short x; };
struct __attribute__((aligned(2))) __nv_bfloat16 {
    unsigned short x;
    __nv_bfloat16() = default;
    constexpr __nv_bfloat16(__nv_bfloat16_raw r) : x(r.x) {}
    // To nearest even by integer addition; NaN becomes the canonical NaN, as the hardware's conversion does.
    __nv_bfloat16(float f) {
        unsigned u = simt_bit_cast<unsigned>(f);
        x = (u & 0x7fffffffu) > 0x7f800000u ? (unsigned short)0x7fff : (unsigned short)((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
    }
    __nv_bfloat16(double d) : __nv_bfloat16(simt_round_odd(d)) {}
#define SIMT_FROM(T) __nv_bfloat16(T v) : __nv_bfloat16((double)v) {}
    SIMT_FROM(short) SIMT_FROM(unsigned short) SIMT_FROM(int) SIMT_FROM(unsigned) SIMT_FROM(long)
    SIMT_FROM(unsigned long) SIMT_FROM(long long) SIMT_FROM(unsigned long long)
#undef SIMT_FROM
    operator float() const { return simt_bit_cast<float>((unsigned)x << 16); }
    operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{x}; }
};
typedef __nv_bfloat16 nv_bfloat16;
struct __attribute__((aligned(4))) __nv_bfloat162 {
    __nv_bfloat16 x, y;
    __nv_bfloat162() = default;
    __nv_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) : x(a), y(b) {}
};
typedef __nv_bfloat162 nv_bfloat162;
template <> struct simt_element<__nv_bfloat16> { static constexpr unsigned code = 4; };

#define SIMT_H __nv_bfloat16
#define SIMT_H2 __nv_bfloat162
#define SIMT_SIGN 0x8000
#define SIMT_EXPONENT 0x7f80
#include "simt/narrow.h"
#undef SIMT_H
#undef SIMT_H2
#undef SIMT_SIGN
#undef SIMT_EXPONENT

SIMT_INL float __bfloat162float(__nv_bfloat16 h) { return (float)h; }
SIMT_INL __nv_bfloat16 __float2bfloat16(float f) { return __nv_bfloat16(f); }
SIMT_INL __nv_bfloat16 __float2bfloat16_rn(float f) { return __nv_bfloat16(f); }
SIMT_INL __nv_bfloat16 __double2bfloat16(double d) { return __nv_bfloat16(d); }
SIMT_INL __nv_bfloat16 __float2bfloat16_rz(float f) {
    __nv_bfloat16 h(f);
    if (fabsf((float)h) > fabsf(f)) h.x -= 1;
    return h;
}
SIMT_INL __nv_bfloat162 __floats2bfloat162_rn(float a, float b) {
    return __nv_bfloat162(__nv_bfloat16(a), __nv_bfloat16(b));
}
SIMT_INL __nv_bfloat162 __float2bfloat162_rn(float a) { return __floats2bfloat162_rn(a, a); }
SIMT_INL __nv_bfloat162 __float22bfloat162_rn(float2 f) { return __floats2bfloat162_rn(f.x, f.y); }
SIMT_INL float2 __bfloat1622float2(__nv_bfloat162 h) { return float2{(float)h.x, (float)h.y}; }
SIMT_INL __nv_bfloat16 __low2bfloat16(__nv_bfloat162 h) { return h.x; }
SIMT_INL __nv_bfloat16 __high2bfloat16(__nv_bfloat162 h) { return h.y; }
SIMT_INL __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
SIMT_INL __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return __nv_bfloat162(a, a); }
SIMT_INL __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
SIMT_INL __nv_bfloat16 __ushort_as_bfloat16(unsigned short u) { return __nv_bfloat16(__nv_bfloat16_raw{u}); }
SIMT_INL __nv_bfloat16 __short_as_bfloat16(short u) { return __ushort_as_bfloat16((unsigned short)u); }
SIMT_INL unsigned short __bfloat16_as_ushort(__nv_bfloat16 h) { return h.x; }
SIMT_INL short __bfloat16_as_short(__nv_bfloat16 h) { return (short)h.x; }
SIMT_INL __nv_bfloat16 __int2bfloat16_rn(int v) { return __nv_bfloat16(v); }
SIMT_INL int __bfloat162int_rn(__nv_bfloat16 h) { return simt_saturate<int>(rintf((float)h)); }
SIMT_INL int __bfloat162int_rz(__nv_bfloat16 h) { return simt_saturate<int>((float)h); }
SIMT_INL __nv_bfloat16 __uint2bfloat16_rn(unsigned v) { return __nv_bfloat16(v); }
#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7f80U)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7fffU)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000U)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3f80U)
