// Included once for half and once for bfloat16 (no #pragma once): everything whose text is the same for both.
// SIMT_H is the type, SIMT_H2 its pair, SIMT_SIGN and SIMT_EXPONENT bit masks of its representation.
#define SIMT_OP(op)                                                                                      \
    SIMT_INL SIMT_H operator op(SIMT_H a, SIMT_H b) { return SIMT_H((float)a op (float)b); }               \
    SIMT_INL SIMT_H2 operator op(SIMT_H2 a, SIMT_H2 b) { return SIMT_H2(a.x op b.x, a.y op b.y); }         \
    SIMT_INL SIMT_H& operator op##=(SIMT_H& a, SIMT_H b) { return a = a op b; }                            \
    SIMT_INL SIMT_H2& operator op##=(SIMT_H2& a, SIMT_H2 b) { return a = a op b; }
SIMT_OP(+) SIMT_OP(-) SIMT_OP(*) SIMT_OP(/)
#undef SIMT_OP
#define SIMT_CMP(op, name)                                                                               \
    SIMT_INL bool operator op(SIMT_H a, SIMT_H b) { return (float)a op (float)b; }                         \
    SIMT_INL bool name(SIMT_H a, SIMT_H b) { return a op b; }                                              \
    SIMT_INL SIMT_H2 name##2(SIMT_H2 a, SIMT_H2 b) {                                                       \
        return SIMT_H2(SIMT_H(a.x op b.x ? 1.0f : 0.0f), SIMT_H(a.y op b.y ? 1.0f : 0.0f));                \
    }
SIMT_CMP(<, __hlt) SIMT_CMP(>, __hgt) SIMT_CMP(<=, __hle) SIMT_CMP(>=, __hge) SIMT_CMP(==, __heq) SIMT_CMP(!=, __hne)
#undef SIMT_CMP
SIMT_INL SIMT_H operator-(SIMT_H a) { a.x ^= SIMT_SIGN; return a; }
SIMT_INL SIMT_H operator+(SIMT_H a) { return a; }
SIMT_INL SIMT_H2 operator-(SIMT_H2 a) { return SIMT_H2(-a.x, -a.y); }
SIMT_INL SIMT_H& operator++(SIMT_H& a) { return a = a + SIMT_H(1.0f); }
SIMT_INL SIMT_H& operator--(SIMT_H& a) { return a = a - SIMT_H(1.0f); }

#define SIMT_BIN(name, expr)                                                                             \
    SIMT_INL SIMT_H name(SIMT_H a, SIMT_H b) { return expr; }                                              \
    SIMT_INL SIMT_H2 name##2(SIMT_H2 a, SIMT_H2 b) { return SIMT_H2(name(a.x, b.x), name(a.y, b.y)); }
SIMT_BIN(__hadd, a + b) SIMT_BIN(__hsub, a - b) SIMT_BIN(__hmul, a * b)
SIMT_BIN(__hadd_rn, a + b) SIMT_BIN(__hsub_rn, a - b) SIMT_BIN(__hmul_rn, a * b)
SIMT_BIN(__hadd_sat, SIMT_H(__saturatef((float)(a + b)))) SIMT_BIN(__hmul_sat, SIMT_H(__saturatef((float)(a * b))))
SIMT_BIN(__hmax, SIMT_H(fmaxf((float)a, (float)b))) SIMT_BIN(__hmin, SIMT_H(fminf((float)a, (float)b)))
#undef SIMT_BIN
SIMT_INL SIMT_H __hdiv(SIMT_H a, SIMT_H b) { return a / b; }
SIMT_INL SIMT_H2 __h2div(SIMT_H2 a, SIMT_H2 b) { return a / b; }
SIMT_INL bool __hisnan(SIMT_H a) { return (a.x & 0x7fff) > SIMT_EXPONENT; }
SIMT_INL int __hisinf(SIMT_H a) { return (a.x & 0x7fff) == SIMT_EXPONENT ? (a.x & SIMT_SIGN ? -1 : 1) : 0; }
SIMT_INL SIMT_H __hmax_nan(SIMT_H a, SIMT_H b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b); }
SIMT_INL SIMT_H __hmin_nan(SIMT_H a, SIMT_H b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b); }
SIMT_INL SIMT_H __hneg(SIMT_H a) { return -a; }
SIMT_INL SIMT_H2 __hneg2(SIMT_H2 a) { return -a; }
SIMT_INL SIMT_H __habs(SIMT_H a) { a.x &= 0x7fff; return a; }
SIMT_INL SIMT_H2 __habs2(SIMT_H2 a) { return SIMT_H2(__habs(a.x), __habs(a.y)); }
// In double the product is exact and the sum rounds once, to odd, before the result's own rounding.
SIMT_INL SIMT_H __hfma(SIMT_H a, SIMT_H b, SIMT_H c) {
    return SIMT_H((double)simt_opaque((float)a) * (double)simt_opaque((float)b) + (double)simt_opaque((float)c));
}
SIMT_INL SIMT_H __hfma_relu(SIMT_H a, SIMT_H b, SIMT_H c) { return __hmax(__hfma(a, b, c), SIMT_H(0.0f)); }
SIMT_INL SIMT_H2 __hfma2(SIMT_H2 a, SIMT_H2 b, SIMT_H2 c) { return SIMT_H2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)); }
SIMT_INL bool __hbeq2(SIMT_H2 a, SIMT_H2 b) { return a.x == b.x && a.y == b.y; }
SIMT_INL bool __hblt2(SIMT_H2 a, SIMT_H2 b) { return a.x < b.x && a.y < b.y; }
SIMT_INL bool __hbgt2(SIMT_H2 a, SIMT_H2 b) { return a.x > b.x && a.y > b.y; }

#define SIMT_UNARY(name, expr)                                                                           \
    SIMT_INL SIMT_H h##name(SIMT_H a) { float v = (float)a; return SIMT_H(expr); }                         \
    SIMT_INL SIMT_H2 h2##name(SIMT_H2 a) { return SIMT_H2(h##name(a.x), h##name(a.y)); }
SIMT_UNARY(exp, expf(v)) SIMT_UNARY(exp2, exp2f(v)) SIMT_UNARY(exp10, exp10f(v)) SIMT_UNARY(log, logf(v))
SIMT_UNARY(log2, log2f(v)) SIMT_UNARY(log10, log10f(v)) SIMT_UNARY(sqrt, sqrtf(v)) SIMT_UNARY(rsqrt, rsqrtf(v))
SIMT_UNARY(rcp, 1.0f / v) SIMT_UNARY(sin, sinf(v)) SIMT_UNARY(cos, cosf(v)) SIMT_UNARY(tanh, tanhf(v))
SIMT_UNARY(floor, floorf(v)) SIMT_UNARY(ceil, ceilf(v)) SIMT_UNARY(rint, rintf(v)) SIMT_UNARY(trunc, truncf(v))
#undef SIMT_UNARY

SIMT_INL float __low2float(SIMT_H2 h) { return (float)h.x; }
SIMT_INL float __high2float(SIMT_H2 h) { return (float)h.y; }
SIMT_INL SIMT_H2 __lowhigh2highlow(SIMT_H2 h) { return SIMT_H2(h.y, h.x); }
SIMT_INL SIMT_H2 __low2half2(SIMT_H2 h) { return SIMT_H2(h.x, h.x); }
SIMT_INL SIMT_H2 __high2half2(SIMT_H2 h) { return SIMT_H2(h.y, h.y); }
SIMT_INL SIMT_H2 __lows2half2(SIMT_H2 a, SIMT_H2 b) { return SIMT_H2(a.x, b.x); }
SIMT_INL SIMT_H2 __highs2half2(SIMT_H2 a, SIMT_H2 b) { return SIMT_H2(a.y, b.y); }

SIMT_INL SIMT_H atomicAdd(SIMT_H* p, SIMT_H v) { return simt_update<unsigned short>(p, [=](SIMT_H o) { return o + v; }); }
SIMT_INL SIMT_H2 atomicAdd(SIMT_H2* p, SIMT_H2 v) { return simt_update<unsigned int>(p, [=](SIMT_H2 o) { return o + v; }); }
SIMT_SCOPES(SIMT_H, atomicAdd, (SIMT_H* p, SIMT_H v), (p, v))
SIMT_SCOPES(SIMT_H2, atomicAdd, (SIMT_H2* p, SIMT_H2 v), (p, v))
