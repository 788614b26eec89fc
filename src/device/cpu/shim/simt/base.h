// Freestanding ground: no system header may come in, because glibc's math.h owns __expf and libstdc++ uses __noinline__.
#pragma once
#define SIMT_INL static inline __attribute__((always_inline))

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __INT8_TYPE__ int8_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;

extern "C" {
void* memcpy(void*, const void*, size_t) noexcept;
void* memmove(void*, const void*, size_t) noexcept;
void* memset(void*, int, size_t) noexcept;
int memcmp(const void*, const void*, size_t) noexcept;
size_t strlen(const char*) noexcept;
int dprintf(int, const char*, ...);
}

namespace std {
typedef ::size_t size_t;
typedef decltype(nullptr) nullptr_t;
template <class T> struct remove_reference { typedef T type; };
template <class T> struct remove_reference<T&> { typedef T type; };
template <class T> struct remove_reference<T&&> { typedef T type; };
template <class T> constexpr typename remove_reference<T>::type&& move(T&& t) noexcept {
    return static_cast<typename remove_reference<T>::type&&>(t);
}
template <class T> constexpr T&& forward(typename remove_reference<T>::type& t) noexcept { return static_cast<T&&>(t); }
template <class T> constexpr T&& forward(typename remove_reference<T>::type&& t) noexcept { return static_cast<T&&>(t); }
}  // namespace std

// Reads the bits of one type as another of the same size.
template <class To, class From> SIMT_INL To simt_bit_cast(From from) {
    static_assert(sizeof(To) == sizeof(From), "sizes differ");
    To to;
    memcpy(&to, &from, sizeof(To));
    return to;
}

// Memory is as the source says it is at this point.
SIMT_INL void simt_compiler_barrier() { __asm__ volatile("" ::: "memory"); }
// Keeps the compiler from folding a widening chain into one conversion that is a library call.
SIMT_INL float simt_opaque(float f) {
#if defined(__x86_64__)
    __asm__("" : "+x"(f));
#else
    __asm__("" : "+w"(f));
#endif
    return f;
}
// Double to float with rounding to odd: a further rounding to a narrower type is then correct.
SIMT_INL float simt_round_odd(double d) {
    float f = (float)d;
    unsigned u = simt_bit_cast<unsigned>(f);
    if ((double)f != d && d == d && (u & 0x7fffffffu) < 0x7f800000u) {
        if (__builtin_fabs((double)f) > __builtin_fabs(d)) u -= 1;
        u |= 1;
    } else if ((u & 0x7fffffffu) == 0x7f800000u && __builtin_fabs(d) < __builtin_inf()) {
        u -= 1;  // the largest float, which is odd
    }
    return simt_bit_cast<float>(u);
}
