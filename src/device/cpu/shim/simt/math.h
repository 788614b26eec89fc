// The math functions of CUDA's global namespace: libm's where it has them, the rest from those.
#pragma once
extern "C" {
#define SIMT_M1(name) double name(double) noexcept; float name##f(float) noexcept;
#define SIMT_M2(name) double name(double, double) noexcept; float name##f(float, float) noexcept;
SIMT_M1(exp) SIMT_M1(exp2) SIMT_M1(exp10) SIMT_M1(expm1) SIMT_M1(log) SIMT_M1(log2) SIMT_M1(log10) SIMT_M1(log1p)
SIMT_M1(sqrt) SIMT_M1(cbrt) SIMT_M1(sin) SIMT_M1(cos) SIMT_M1(tan) SIMT_M1(asin) SIMT_M1(acos) SIMT_M1(atan)
SIMT_M1(sinh) SIMT_M1(cosh) SIMT_M1(tanh) SIMT_M1(asinh) SIMT_M1(acosh) SIMT_M1(atanh) SIMT_M1(erf) SIMT_M1(erfc)
SIMT_M1(tgamma) SIMT_M1(lgamma) SIMT_M1(floor) SIMT_M1(ceil) SIMT_M1(round) SIMT_M1(trunc) SIMT_M1(rint)
SIMT_M1(nearbyint) SIMT_M1(fabs) SIMT_M1(logb) SIMT_M1(j0) SIMT_M1(j1) SIMT_M1(y0) SIMT_M1(y1)
SIMT_M2(pow) SIMT_M2(fmod) SIMT_M2(atan2) SIMT_M2(hypot) SIMT_M2(copysign)
SIMT_M2(remainder) SIMT_M2(fdim) SIMT_M2(nextafter)
double fma(double, double, double) noexcept; float fmaf(float, float, float) noexcept;
double ldexp(double, int) noexcept; float ldexpf(float, int) noexcept;
double scalbn(double, int) noexcept; float scalbnf(float, int) noexcept;
double frexp(double, int*) noexcept; float frexpf(float, int*) noexcept;
double modf(double, double*) noexcept; float modff(float, float*) noexcept;
int ilogb(double) noexcept; int ilogbf(float) noexcept;
void sincos(double, double*, double*) noexcept; void sincosf(float, float*, float*) noexcept;
long lrint(double) noexcept; long lrintf(float) noexcept; long lround(double) noexcept; long lroundf(float) noexcept;
long long llrint(double) noexcept; long long llrintf(float) noexcept;
long long llround(double) noexcept; long long llroundf(float) noexcept;
int abs(int) noexcept; long labs(long) noexcept; long long llabs(long long) noexcept;
#undef SIMT_M1
#undef SIMT_M2
}

// Inline, because compilers leave libm's as calls: the operand that is a number wins, as on a GPU.
#define SIMT_EXTREME(T, name, op) SIMT_INL T name(T a, T b) { return a op b || b != b ? a : b; }
SIMT_EXTREME(float, fmaxf, >)
SIMT_EXTREME(float, fminf, <)
SIMT_EXTREME(double, fmax, >)
SIMT_EXTREME(double, fmin, <)
#undef SIMT_EXTREME

#define SIMT_O1(name) SIMT_INL float name(float x) { return name##f(x); }
#define SIMT_O2(name) SIMT_INL float name(float x, float y) { return name##f(x, y); }
SIMT_O1(exp) SIMT_O1(exp2) SIMT_O1(exp10) SIMT_O1(expm1) SIMT_O1(log) SIMT_O1(log2) SIMT_O1(log10) SIMT_O1(log1p)
SIMT_O1(sqrt) SIMT_O1(cbrt) SIMT_O1(sin) SIMT_O1(cos) SIMT_O1(tan) SIMT_O1(asin) SIMT_O1(acos) SIMT_O1(atan)
SIMT_O1(sinh) SIMT_O1(cosh) SIMT_O1(tanh) SIMT_O1(asinh) SIMT_O1(acosh) SIMT_O1(atanh) SIMT_O1(erf) SIMT_O1(erfc)
SIMT_O1(tgamma) SIMT_O1(lgamma) SIMT_O1(floor) SIMT_O1(ceil) SIMT_O1(round) SIMT_O1(trunc) SIMT_O1(rint)
SIMT_O1(nearbyint) SIMT_O1(fabs) SIMT_O1(logb)
SIMT_O2(pow) SIMT_O2(fmod) SIMT_O2(atan2) SIMT_O2(hypot) SIMT_O2(fmin) SIMT_O2(fmax) SIMT_O2(copysign)
SIMT_O2(remainder) SIMT_O2(fdim) SIMT_O2(nextafter)
SIMT_INL float fma(float a, float b, float c) { return fmaf(a, b, c); }
SIMT_INL float ldexp(float x, int e) { return ldexpf(x, e); }
SIMT_INL float pow(float x, int n) { return powf(x, (float)n); }
SIMT_INL double pow(double x, int n) { return pow(x, (double)n); }
SIMT_INL float abs(float x) { return fabsf(x); }
SIMT_INL double abs(double x) { return fabs(x); }
SIMT_INL long abs(long x) { return labs(x); }
SIMT_INL long long abs(long long x) { return llabs(x); }
#undef SIMT_O1
#undef SIMT_O2

SIMT_INL float rsqrtf(float x) { return 1.0f / sqrtf(x); }
SIMT_INL double rsqrt(double x) { return 1.0 / sqrt(x); }
SIMT_INL float rsqrt(float x) { return rsqrtf(x); }
SIMT_INL float rcbrtf(float x) { return 1.0f / cbrtf(x); }
SIMT_INL double rcbrt(double x) { return 1.0 / cbrt(x); }
SIMT_INL float fdividef(float a, float b) { return a / b; }
SIMT_INL float sinpif(float x) { return (float)sin(3.141592653589793 * (double)remainderf(x, 2.0f)); }
SIMT_INL float cospif(float x) { return (float)cos(3.141592653589793 * (double)remainderf(x, 2.0f)); }
SIMT_INL double sinpi(double x) { return sin(3.141592653589793 * remainder(x, 2.0)); }
SIMT_INL double cospi(double x) { return cos(3.141592653589793 * remainder(x, 2.0)); }
SIMT_INL void sincospif(float x, float* s, float* c) { *s = sinpif(x); *c = cospif(x); }
SIMT_INL float normcdff(float x) { return 0.5f * erfcf(-0.7071067811865476f * x); }
SIMT_INL double normcdf(double x) { return 0.5 * erfc(-0.7071067811865476 * x); }
SIMT_INL float erfcxf(float x) { return (float)(exp((double)x * x) * erfc((double)x)); }
SIMT_INL float norm3df(float a, float b, float c) { return sqrtf(a * a + b * b + c * c); }
SIMT_INL float norm4df(float a, float b, float c, float d) { return sqrtf(a * a + b * b + c * c + d * d); }
SIMT_INL float rhypotf(float a, float b) { return 1.0f / hypotf(a, b); }

#define isnan(x) __builtin_isnan(x)
#define isinf(x) (__builtin_isinf_sign(x) != 0)
#define isfinite(x) __builtin_isfinite(x)
#define signbit(x) __builtin_signbit(x)
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VALF __builtin_inff()
#define FLT_MAX __FLT_MAX__
#define FLT_MIN __FLT_MIN__
#define FLT_EPSILON __FLT_EPSILON__
#define DBL_MAX __DBL_MAX__
#define DBL_MIN __DBL_MIN__
#define DBL_EPSILON __DBL_EPSILON__
#define INT_MAX __INT_MAX__
#define INT_MIN (-__INT_MAX__ - 1)
#define UINT_MAX (__INT_MAX__ * 2u + 1u)
#define LLONG_MAX __LONG_LONG_MAX__
#define LLONG_MIN (-__LONG_LONG_MAX__ - 1ll)
#define ULLONG_MAX (__LONG_LONG_MAX__ * 2ull + 1ull)
#define CHAR_BIT 8
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_1_PI 0.31830988618379067154
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LN2 0.69314718055994530942

// The fast variants: at least as exact here as on a GPU.
SIMT_INL float __expf(float x) { return expf(x); }
SIMT_INL float __exp10f(float x) { return exp10f(x); }
SIMT_INL float __logf(float x) { return logf(x); }
SIMT_INL float __log2f(float x) { return log2f(x); }
SIMT_INL float __log10f(float x) { return log10f(x); }
SIMT_INL float __sinf(float x) { return sinf(x); }
SIMT_INL float __cosf(float x) { return cosf(x); }
SIMT_INL float __tanf(float x) { return tanf(x); }
SIMT_INL float __tanhf(float x) { return tanhf(x); }
SIMT_INL float __powf(float x, float y) { return powf(x, y); }
SIMT_INL void __sincosf(float x, float* s, float* c) { sincosf(x, s, c); }
SIMT_INL float __fdividef(float a, float b) { return a / b; }
SIMT_INL float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }

// Arithmetic with a rounding mode. Only round-to-nearest is the host's own; the products and sums are kept from fusing.
#define SIMT_KEEP(T, e) \
    {                   \
        volatile T r = e; \
        return r;       \
    }
SIMT_INL float __fadd_rn(float a, float b) SIMT_KEEP(float, a + b)
SIMT_INL float __fsub_rn(float a, float b) SIMT_KEEP(float, a - b)
SIMT_INL float __fmul_rn(float a, float b) SIMT_KEEP(float, a * b)
SIMT_INL double __dadd_rn(double a, double b) SIMT_KEEP(double, a + b)
SIMT_INL double __dsub_rn(double a, double b) SIMT_KEEP(double, a - b)
SIMT_INL double __dmul_rn(double a, double b) SIMT_KEEP(double, a * b)
#undef SIMT_KEEP
SIMT_INL float __fdiv_rn(float a, float b) { return a / b; }
SIMT_INL float __frcp_rn(float a) { return 1.0f / a; }
SIMT_INL float __fsqrt_rn(float a) { return sqrtf(a); }
SIMT_INL float __frsqrt_rn(float a) { return (float)(1.0 / sqrt((double)a)); }
SIMT_INL float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
SIMT_INL double __ddiv_rn(double a, double b) { return a / b; }
SIMT_INL double __drcp_rn(double a) { return 1.0 / a; }
SIMT_INL double __dsqrt_rn(double a) { return sqrt(a); }
SIMT_INL double __fma_rn(double a, double b, double c) { return fma(a, b, c); }

// min and max over the mixes of types that CUDA declares; the usual arithmetic conversions choose the result.
#define SIMT_MINMAX(A, B, R)                                                      \
    SIMT_INL constexpr R min(A a, B b) { return (R)a < (R)b ? (R)a : (R)b; }      \
    SIMT_INL constexpr R max(A a, B b) { return (R)a < (R)b ? (R)b : (R)a; }
SIMT_MINMAX(int, int, int)
SIMT_MINMAX(unsigned, unsigned, unsigned)
SIMT_MINMAX(int, unsigned, unsigned)
SIMT_MINMAX(unsigned, int, unsigned)
SIMT_MINMAX(long, long, long)
SIMT_MINMAX(unsigned long, unsigned long, unsigned long)
SIMT_MINMAX(long, unsigned long, unsigned long)
SIMT_MINMAX(unsigned long, long, unsigned long)
SIMT_MINMAX(long long, long long, long long)
SIMT_MINMAX(unsigned long long, unsigned long long, unsigned long long)
SIMT_MINMAX(long long, unsigned long long, unsigned long long)
SIMT_MINMAX(unsigned long long, long long, unsigned long long)
#undef SIMT_MINMAX
SIMT_INL float min(float a, float b) { return fminf(a, b); }
SIMT_INL float max(float a, float b) { return fmaxf(a, b); }
SIMT_INL double min(double a, double b) { return fmin(a, b); }
SIMT_INL double max(double a, double b) { return fmax(a, b); }
SIMT_INL double min(float a, double b) { return fmin((double)a, b); }
SIMT_INL double max(float a, double b) { return fmax((double)a, b); }
SIMT_INL double min(double a, float b) { return fmin(a, (double)b); }
SIMT_INL double max(double a, float b) { return fmax(a, (double)b); }
SIMT_INL int umin(unsigned a, unsigned b) { return (int)min(a, b); }
SIMT_INL int umax(unsigned a, unsigned b) { return (int)max(a, b); }
