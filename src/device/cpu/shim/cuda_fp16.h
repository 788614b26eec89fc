// half and half2: stored as IEEE binary16; arithmetic in float, rounded once per operation.
#pragma once
#if defined(__aarch64__) || defined(__clang__)
typedef __fp16 simt_f16;
#else
typedef _Float16 simt_f16;
#endif

struct __attribute__((aligned(2))) __half_raw { unsigned short x; };
struct __attribute__((aligned(2))) __half {
    unsigned short x;
    __half() = default;
    constexpr __half(__half_raw r) : x(r.x) {}
    // By memory, because not every compiler takes a narrow float as an argument.
    __half(float f) {
        simt_f16 h = (simt_f16)f;
        memcpy(&x, &h, sizeof(x));
    }
    __half(double d) : __half(simt_opaque(simt_round_odd(d))) {}
#define SIMT_FROM(T) __half(T v) : __half((double)v) {}
    SIMT_FROM(short) SIMT_FROM(unsigned short) SIMT_FROM(int) SIMT_FROM(unsigned) SIMT_FROM(long)
    SIMT_FROM(unsigned long) SIMT_FROM(long long) SIMT_FROM(unsigned long long)
#undef SIMT_FROM
    operator float() const {
        simt_f16 h;
        memcpy(&h, &x, sizeof(x));
        return (float)h;
    }
    operator __half_raw() const { return __half_raw{x}; }
};
typedef __half half;
typedef __half __nv_half;
typedef __half nv_half;
struct __attribute__((aligned(4))) __half2 {
    __half x, y;
    __half2() = default;
    __half2(__half a, __half b) : x(a), y(b) {}
};
typedef __half2 half2;
typedef __half2 __nv_half2;
typedef __half2 nv_half2;
template <> struct simt_element<__half> { static constexpr unsigned code = 3; };

#define SIMT_H __half
#define SIMT_H2 __half2
#define SIMT_SIGN 0x8000
#define SIMT_EXPONENT 0x7c00
#include "simt/narrow.h"
#undef SIMT_H
#undef SIMT_H2
#undef SIMT_SIGN
#undef SIMT_EXPONENT

SIMT_INL float __half2float(__half h) { return (float)h; }
SIMT_INL __half __float2half(float f) { return __half(f); }
SIMT_INL __half __float2half_rn(float f) { return __half(f); }
SIMT_INL __half __double2half(double d) { return __half(d); }
// Towards zero: the nearest value, stepped back where it went past.
SIMT_INL __half __float2half_rz(float f) {
    __half h(f);
    if (fabsf((float)h) > fabsf(f)) h.x -= 1;
    return h;
}
SIMT_INL __half __float2half_rd(float f) {
    __half h(f);
    if ((float)h > f) h.x += h.x & 0x8000 ? 1 : h.x ? -1 : 0x8001;
    return h;
}
SIMT_INL __half __float2half_ru(float f) {
    __half h(f);
    if ((float)h < f) h.x += h.x & 0x8000 ? (h.x == 0x8000 ? -0x7fff : -1) : 1;
    return h;
}
SIMT_INL __half2 __floats2half2_rn(float a, float b) { return __half2(__half(a), __half(b)); }
SIMT_INL __half2 __float2half2_rn(float a) { return __half2(__half(a), __half(a)); }
SIMT_INL float2 __half22float2(__half2 h) { return float2{(float)h.x, (float)h.y}; }
SIMT_INL __half2 __float22half2_rn(float2 f) { return __floats2half2_rn(f.x, f.y); }
SIMT_INL __half __low2half(__half2 h) { return h.x; }
SIMT_INL __half __high2half(__half2 h) { return h.y; }
SIMT_INL __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
SIMT_INL __half2 __half2half2(__half a) { return __half2(a, a); }
SIMT_INL __half2 make_half2(__half a, __half b) { return __half2(a, b); }
SIMT_INL __half __ushort_as_half(unsigned short u) { return __half(__half_raw{u}); }
SIMT_INL __half __short_as_half(short u) { return __half(__half_raw{(unsigned short)u}); }
SIMT_INL unsigned short __half_as_ushort(__half h) { return h.x; }
SIMT_INL short __half_as_short(__half h) { return (short)h.x; }
#define SIMT_HALF_INT(name, I)                                                          \
    SIMT_INL __half __##name##2half_rn(I v) { return __half((double)v); }               \
    SIMT_INL I __half2##name##_rn(__half h) { return simt_saturate<I>(rintf((float)h)); } \
    SIMT_INL I __half2##name##_rz(__half h) { return simt_saturate<I>((float)h); }
SIMT_HALF_INT(int, int)
SIMT_HALF_INT(uint, unsigned)
SIMT_HALF_INT(short, short)
SIMT_HALF_INT(ushort, unsigned short)
SIMT_HALF_INT(ll, long long)
#undef SIMT_HALF_INT
#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7c00U)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7fffU)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3c00U)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7bffU)
