// Integer and bit intrinsics, conversions with a rounding mode, reinterpretations.
#pragma once
SIMT_INL int __popc(unsigned x) { return __builtin_popcount(x); }
SIMT_INL int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
SIMT_INL int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
SIMT_INL int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
SIMT_INL int __ffs(int x) { return __builtin_ffs(x); }
SIMT_INL int __ffsll(long long x) { return __builtin_ffsll(x); }
SIMT_INL unsigned __brev(unsigned x) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
SIMT_INL unsigned long long __brevll(unsigned long long x) {
    return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}
SIMT_INL unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
SIMT_INL int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
SIMT_INL unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
SIMT_INL long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
SIMT_INL unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
SIMT_INL int __mul24(int a, int b) { return (int)((unsigned)((a << 8) >> 8) * (unsigned)((b << 8) >> 8)); }
SIMT_INL unsigned __sad(int a, int b, unsigned c) { return c + (a > b ? (unsigned)a - (unsigned)b : (unsigned)b - (unsigned)a); }
SIMT_INL unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a > b ? a - b : b - a); }
SIMT_INL int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
SIMT_INL int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
SIMT_INL unsigned __uhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b) >> 1); }
SIMT_INL unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
    unsigned long long bytes = (unsigned long long)b << 32 | a;
    unsigned out = 0;
    for (int i = 0; i < 4; ++i) {
        unsigned s = selector >> 4 * i, byte = (unsigned)(bytes >> 8 * (s & 7)) & 0xffu;
        if (s & 8) byte = byte & 0x80 ? 0xffu : 0u;
        out |= byte << 8 * i;
    }
    return out;
}
SIMT_INL unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned s) {
    return (unsigned)(((unsigned long long)hi << 32 | lo) << (s & 31) >> 32);
}
SIMT_INL unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned s) {
    return (unsigned)(((unsigned long long)hi << 32 | lo) >> (s & 31));
}
SIMT_INL unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned s) { return s >= 32 ? lo : __funnelshift_l(lo, hi, s); }
SIMT_INL unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned s) { return s >= 32 ? hi : __funnelshift_r(lo, hi, s); }
SIMT_INL int __dp4a(int a, int b, int c) {
    for (int i = 0; i < 4; ++i) c += (signed char)(a >> 8 * i) * (signed char)(b >> 8 * i);
    return c;
}
SIMT_INL unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    for (int i = 0; i < 4; ++i) c += (a >> 8 * i & 0xffu) * (b >> 8 * i & 0xffu);
    return c;
}

SIMT_INL int __float_as_int(float x) { return simt_bit_cast<int>(x); }
SIMT_INL unsigned __float_as_uint(float x) { return simt_bit_cast<unsigned>(x); }
SIMT_INL float __int_as_float(int x) { return simt_bit_cast<float>(x); }
SIMT_INL float __uint_as_float(unsigned x) { return simt_bit_cast<float>(x); }
SIMT_INL long long __double_as_longlong(double x) { return simt_bit_cast<long long>(x); }
SIMT_INL double __longlong_as_double(long long x) { return simt_bit_cast<double>(x); }
SIMT_INL int __double2hiint(double x) { return (int)(simt_bit_cast<unsigned long long>(x) >> 32); }
SIMT_INL int __double2loint(double x) { return (int)simt_bit_cast<unsigned long long>(x); }
SIMT_INL double __hiloint2double(int hi, int lo) {
    return simt_bit_cast<double>((unsigned long long)(unsigned)hi << 32 | (unsigned)lo);
}

// Float to integer saturates and maps NaN to 0, as cvt does on a GPU; a plain C++ cast would be undefined.
template <class I, class F> SIMT_INL I simt_saturate(F x) {
    constexpr bool is_signed = I(-1) < I(0);
    constexpr I top = is_signed ? (I)(~0ull >> (65 - 8 * sizeof(I))) : (I)~I(0);
    constexpr I low = is_signed ? (I)(-top - 1) : I(0);
    if (x != x) return 0;
    if (x >= (F)top) return top;
    if (x <= (F)low) return low;
    return (I)x;
}
#define SIMT_TO_INT(from, F, to, I)                                                        \
    SIMT_INL I __##from##2##to##_rn(F x) { return simt_saturate<I>((F)__builtin_rint(x)); }  \
    SIMT_INL I __##from##2##to##_rz(F x) { return simt_saturate<I>(x); }                     \
    SIMT_INL I __##from##2##to##_rd(F x) { return simt_saturate<I>((F)__builtin_floor(x)); } \
    SIMT_INL I __##from##2##to##_ru(F x) { return simt_saturate<I>((F)__builtin_ceil(x)); }
SIMT_TO_INT(float, float, int, int)
SIMT_TO_INT(float, float, uint, unsigned)
SIMT_TO_INT(float, float, ll, long long)
SIMT_TO_INT(float, float, ull, unsigned long long)
SIMT_TO_INT(double, double, int, int)
SIMT_TO_INT(double, double, uint, unsigned)
SIMT_TO_INT(double, double, ll, long long)
SIMT_TO_INT(double, double, ull, unsigned long long)
#undef SIMT_TO_INT
SIMT_INL float __int2float_rn(int x) { return (float)x; }
SIMT_INL float __uint2float_rn(unsigned x) { return (float)x; }
SIMT_INL float __ll2float_rn(long long x) { return (float)x; }
SIMT_INL float __ull2float_rn(unsigned long long x) { return (float)x; }
SIMT_INL double __int2double_rn(int x) { return (double)x; }
SIMT_INL double __uint2double_rn(unsigned x) { return (double)x; }
SIMT_INL double __ll2double_rn(long long x) { return (double)x; }
SIMT_INL float __double2float_rn(double x) { return (float)x; }
