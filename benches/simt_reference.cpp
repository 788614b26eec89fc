// The plain loops that benches/simt.rs measures against: one core, buffers in the kernels' parameter order.
#include <math.h>
#include <stdint.h>
#include <string.h>

extern "C" {

void ref_rms_norm(float* const* b, const int64_t* extents) {
    const int64_t n[3] = {extents[0], extents[1], extents[2]};
    const float *__restrict__ x = b[0], *__restrict__ w = b[1];
    float* __restrict__ y = b[2];
    for (int64_t r = 0; r < n[0]; ++r, x += n[1], y += n[1]) {
        float s = 0;
        for (int64_t i = 0; i < n[1]; ++i) s += x[i] * x[i];
        float k = 1.0f / sqrtf(s / n[1] + 1e-5f);
        for (int64_t i = 0; i < n[1]; ++i) y[i] = x[i] * k * w[i];
    }
}

void ref_softmax(float* const* b, const int64_t* extents) {
    const int64_t n[3] = {extents[0], extents[1], extents[2]};
    const float* __restrict__ x = b[0];
    float* __restrict__ y = b[1];
    for (int64_t r = 0; r < n[0]; ++r, x += n[1], y += n[1]) {
        float m = -INFINITY, s = 0;
        for (int64_t i = 0; i < n[1]; ++i) m = x[i] > m ? x[i] : m;
        for (int64_t i = 0; i < n[1]; ++i) s += y[i] = expf(x[i] - m);
        float k = 1.0f / s;
        for (int64_t i = 0; i < n[1]; ++i) y[i] *= k;
    }
}

void ref_transpose(float* const* b, const int64_t* extents) {
    const int64_t n[3] = {extents[0], extents[1], extents[2]};
    const float* __restrict__ in = b[0];
    float* __restrict__ out = b[1];
    for (int64_t r = 0; r < n[0]; ++r)
        for (int64_t c = 0; c < n[1]; ++c) out[c * n[0] + r] = in[r * n[1] + c];
}

void ref_matmul(float* const* b, const int64_t* extents) {
    const int64_t n[3] = {extents[0], extents[1], extents[2]};
    const float *__restrict__ x = b[0], *__restrict__ y = b[1];
    float* __restrict__ z = b[2];
    for (int64_t i = 0; i < n[0]; ++i) {
        for (int64_t j = 0; j < n[1]; ++j) z[i * n[1] + j] = 0;
        for (int64_t k = 0; k < n[2]; ++k)
            for (int64_t j = 0; j < n[1]; ++j) z[i * n[1] + j] += x[i * n[2] + k] * y[k * n[1] + j];
    }
}

void ref_saxpy(float* const* b, const int64_t* extents) {
    const int64_t n[3] = {extents[0], extents[1], extents[2]};
    const float* __restrict__ x = b[0];
    float* __restrict__ y = b[1];
    for (int64_t i = 0; i < n[0]; ++i) y[i] = 2.0f * x[i] + y[i];
}

static float widen(uint16_t h) {
    uint32_t u = (uint32_t)h << 16;
    float f;
    memcpy(&f, &u, 4);
    return f;
}

static uint16_t narrow(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    return (u + 0x7fff + ((u >> 16) & 1)) >> 16;
}

void ref_swiglu_bf16(float* const* b, const int64_t* extents) {
    const int64_t n[3] = {extents[0], extents[1], extents[2]};
    const uint16_t *__restrict__ g = (const uint16_t*)b[0], *__restrict__ u = (const uint16_t*)b[1];
    uint16_t* __restrict__ o = (uint16_t*)b[2];
    for (int64_t i = 0; i < n[0]; ++i) {
        float a = widen(g[i]);
        o[i] = narrow(a / (1.0f + expf(-a)) * widen(u[i]));
    }
}
}
