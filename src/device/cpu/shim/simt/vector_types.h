// CUDA's vector types with CUDA's alignment, and their make_ functions.
#pragma once
#define SIMT_VECTOR(name, E, align2, align4)                                                     \
    struct name##1 { E x; };                                                                     \
    struct __attribute__((aligned(align2))) name##2 { E x, y; };                                 \
    struct name##3 { E x, y, z; };                                                               \
    struct __attribute__((aligned(align4))) name##4 { E x, y, z, w; };                           \
    SIMT_INL constexpr name##1 make_##name##1(E x) { return name##1{x}; }                        \
    SIMT_INL constexpr name##2 make_##name##2(E x, E y) { return name##2{x, y}; }                \
    SIMT_INL constexpr name##3 make_##name##3(E x, E y, E z) { return name##3{x, y, z}; }        \
    SIMT_INL constexpr name##4 make_##name##4(E x, E y, E z, E w) { return name##4{x, y, z, w}; }
SIMT_VECTOR(char, signed char, 2, 4)
SIMT_VECTOR(uchar, unsigned char, 2, 4)
SIMT_VECTOR(short, short, 4, 8)
SIMT_VECTOR(ushort, unsigned short, 4, 8)
SIMT_VECTOR(int, int, 8, 16)
SIMT_VECTOR(uint, unsigned int, 8, 16)
SIMT_VECTOR(long, long, 16, 16)
SIMT_VECTOR(ulong, unsigned long, 16, 16)
SIMT_VECTOR(longlong, long long, 16, 16)
SIMT_VECTOR(ulonglong, unsigned long long, 16, 16)
SIMT_VECTOR(float, float, 8, 16)
SIMT_VECTOR(double, double, 16, 16)
#undef SIMT_VECTOR

struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1) : x(vx), y(vy), z(vz) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return uint3{x, y, z}; }
};
