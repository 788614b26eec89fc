// GELU x * c(x) and its derivative c(x) + x * c'(x), c the cumulative distribution: the exact one of the standard normal,
// or its tanh approximation (1 + tanh(u)) / 2 = sigmoid(2 u), u = sqrt(2 / pi) * (x + 0.044715 x^3).
#pragma once
#include "elementwise.cuh"

struct Cdf {
    float value, derivative;
};

__device__ __forceinline__ Cdf normal_cdf(float x) {
    return {0.5f * (1.f + erff(0.70710678f * x)), 0.39894228f * __expf(-0.5f * x * x)};
}

__device__ __forceinline__ Cdf tanh_cdf(float x) {
    const float square = x * x, s = sigmoid(1.5957691f * x * (1.f + 0.044715f * square));
    return {s, s * (1.f - s) * 1.5957691f * (1.f + 0.134145f * square)};
}
