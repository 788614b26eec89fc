// Atomic functions in all scopes; a failed exchange yields, so that a spin lock makes progress.
#pragma once
#define SIMT_SCOPES(T, name, DECL, CALL)               \
    SIMT_INL T name##_block DECL { return name CALL; } \
    SIMT_INL T name##_system DECL { return name CALL; }

// Applies `f` to *p atomically and returns the old value; `U` is the unsigned integer of the same size.
template <class U, class T, class F> SIMT_INL T simt_update(T* p, F f) {
    U* word = reinterpret_cast<U*>(p);
    U old = __atomic_load_n(word, __ATOMIC_RELAXED);
    for (;;) {
        T value = simt_bit_cast<T>(old);
        U next = simt_bit_cast<U>(f(value));
        if (__atomic_compare_exchange_n(word, &old, next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return value;
    }
}

#define SIMT_ATOMIC_ADD(T)                                                                           \
    SIMT_INL T atomicAdd(T* p, T v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }           \
    SIMT_SCOPES(T, atomicAdd, (T* p, T v), (p, v))
#define SIMT_ATOMIC_SUB(T)                                                                           \
    SIMT_INL T atomicSub(T* p, T v) { return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED); }           \
    SIMT_SCOPES(T, atomicSub, (T* p, T v), (p, v))
#define SIMT_ATOMIC_INT(T, U)                                                                        \
    SIMT_INL T atomicAnd(T* p, T v) { return __atomic_fetch_and(p, v, __ATOMIC_RELAXED); }           \
    SIMT_SCOPES(T, atomicAnd, (T* p, T v), (p, v))                                                   \
    SIMT_INL T atomicOr(T* p, T v) { return __atomic_fetch_or(p, v, __ATOMIC_RELAXED); }             \
    SIMT_SCOPES(T, atomicOr, (T* p, T v), (p, v))                                                    \
    SIMT_INL T atomicXor(T* p, T v) { return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED); }           \
    SIMT_SCOPES(T, atomicXor, (T* p, T v), (p, v))                                                   \
    SIMT_INL T atomicMax(T* p, T v) { return simt_update<U>(p, [=](T o) { return o < v ? v : o; }); } \
    SIMT_SCOPES(T, atomicMax, (T* p, T v), (p, v))                                                   \
    SIMT_INL T atomicMin(T* p, T v) { return simt_update<U>(p, [=](T o) { return v < o ? v : o; }); } \
    SIMT_SCOPES(T, atomicMin, (T* p, T v), (p, v))
#define SIMT_ATOMIC_SWAP(T, U)                                                                       \
    SIMT_INL T atomicExch(T* p, T v, SIMT_AT) {                                                      \
        U o = __atomic_exchange_n(reinterpret_cast<U*>(p), simt_bit_cast<U>(v), __ATOMIC_SEQ_CST);   \
        if (__builtin_expect(o == simt_bit_cast<U>(v), 0)) simt_host.yield(line, file);              \
        return simt_bit_cast<T>(o);                                                                  \
    }                                                                                                \
    SIMT_SCOPES(T, atomicExch, (T* p, T v, SIMT_AT), (p, v, line, file))
#define SIMT_ATOMIC_CAS(T)                                                                           \
    SIMT_INL T atomicCAS(T* p, T expected, T v, SIMT_AT) {                                           \
        T o = expected;                                                                              \
        if (!__atomic_compare_exchange_n(p, &o, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))       \
            simt_host.yield(line, file);                                                             \
        return o;                                                                                    \
    }                                                                                                \
    SIMT_SCOPES(T, atomicCAS, (T* p, T expected, T v, SIMT_AT), (p, expected, v, line, file))

SIMT_ATOMIC_ADD(int)
SIMT_ATOMIC_ADD(unsigned int)
SIMT_ATOMIC_ADD(unsigned long long)
SIMT_ATOMIC_ADD(unsigned long)
SIMT_ATOMIC_SUB(int)
SIMT_ATOMIC_SUB(unsigned int)
SIMT_ATOMIC_INT(int, unsigned int)
SIMT_ATOMIC_INT(unsigned int, unsigned int)
SIMT_ATOMIC_INT(long long, unsigned long long)
SIMT_ATOMIC_INT(unsigned long long, unsigned long long)
SIMT_ATOMIC_SWAP(int, unsigned int)
SIMT_ATOMIC_SWAP(unsigned int, unsigned int)
SIMT_ATOMIC_SWAP(unsigned long long, unsigned long long)
SIMT_ATOMIC_SWAP(float, unsigned int)
SIMT_ATOMIC_CAS(int)
SIMT_ATOMIC_CAS(unsigned int)
SIMT_ATOMIC_CAS(unsigned long long)
SIMT_ATOMIC_CAS(unsigned short)

#define SIMT_ATOMIC_FLOAT(T, U)                                                             \
    SIMT_INL T atomicAdd(T* p, T v) { return simt_update<U>(p, [=](T o) { return o + v; }); } \
    SIMT_SCOPES(T, atomicAdd, (T* p, T v), (p, v))
SIMT_ATOMIC_FLOAT(float, unsigned int)
SIMT_ATOMIC_FLOAT(double, unsigned long long)
// CUDA's vector adds are atomic per element only.
SIMT_INL float2 atomicAdd(float2* p, float2 v) { return float2{atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y)}; }
SIMT_INL float4 atomicAdd(float4* p, float4 v) {
    return float4{atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y), atomicAdd(&p->z, v.z), atomicAdd(&p->w, v.w)};
}

SIMT_INL unsigned atomicInc(unsigned* p, unsigned limit) {
    return simt_update<unsigned>(p, [=](unsigned o) { return o >= limit ? 0u : o + 1; });
}
SIMT_SCOPES(unsigned, atomicInc, (unsigned* p, unsigned limit), (p, limit))
SIMT_INL unsigned atomicDec(unsigned* p, unsigned limit) {
    return simt_update<unsigned>(p, [=](unsigned o) { return o == 0 || o > limit ? limit : o - 1; });
}
SIMT_SCOPES(unsigned, atomicDec, (unsigned* p, unsigned limit), (p, limit))
