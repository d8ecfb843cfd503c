// Counter-based random numbers: a number depends on (seed, sample, block, purpose) only.
//
// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011), one counter in each lane.
// The numbers do not depend on the number of lanes: they are always drawn in groups of sixteen blocks.
#pragma once

#include "lanes.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace gaussian_neurons::GN_ISA {

using Words = typename Single::integers;   // uint32_t in each lane
using Floats = typename Single::vector;
typedef uint64_t Longs __attribute__((vector_size(GN_VECTOR_BYTES)));
typedef int32_t Integers __attribute__((vector_size(GN_VECTOR_BYTES)));

constexpr Index lanes = Single::lanes;
constexpr Index group_blocks = 16;                 // blocks in a group
constexpr Index group_numbers = 4 * group_blocks;  // numbers in a group

GN_INLINE Words all_words(uint32_t value) { return value + Words{}; }

GN_INLINE Words count_lanes() {
    Words lane;
    for (Index l = 0; l < lanes; ++l) lane[l] = uint32_t(l);
    return lane;
}

// The products of the lower 32 bits of each 64-bit lane.
GN_INLINE Longs multiply_low_halves(Longs a, Longs b) {
#if GN_VECTOR_BYTES == 64
    return (Longs)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif GN_VECTOR_BYTES == 32
    return (Longs)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
    return (Longs)_mm_mul_epu32((__m128i)a, (__m128i)b);
#else
    return (a & 0xffffffffull) * (b & 0xffffffffull);
#endif
}

struct Block {
    Words word[4];
};

// One round on counters with one word in the lower 32 bits of each 64-bit lane. The upper 32 bits are
// arbitrary: the products ignore them.
GN_INLINE void philox_round(Longs* c, uint32_t key_0, uint32_t key_1) {
    Longs first = multiply_low_halves(c[0], 0xD2511F53ull + Longs{});
    Longs third = multiply_low_halves(c[2], 0xCD9E8D57ull + Longs{});
    c[0] = (third >> 32) ^ c[1] ^ uint64_t(key_0);
    c[1] = third;
    c[2] = (first >> 32) ^ c[3] ^ uint64_t(key_1);
    c[3] = first;
}

GN_INLINE Block philox(Block counter, uint64_t seed) {
    uint32_t key_0 = uint32_t(seed), key_1 = uint32_t(seed >> 32);
    Longs even[4], odd[4];  // the even and the odd lanes
    GN_UNROLL
    for (int i = 0; i < 4; ++i) {
        even[i] = (Longs)counter.word[i];
        odd[i] = even[i] >> 32;
    }
    GN_UNROLL
    for (int round = 0; round < 10; ++round) {
        philox_round(even, key_0, key_1);
        philox_round(odd, key_0, key_1);
        key_0 += 0x9E3779B9u;
        key_1 += 0xBB67AE85u;
    }
    Block drawn;
    GN_UNROLL
    for (int i = 0; i < 4; ++i) drawn.word[i] = (Words)((even[i] & 0xffffffffull) | (odd[i] << 32));
    return drawn;
}

GN_INLINE Floats square_root(Floats x) {
#if GN_VECTOR_BYTES == 64
    return (Floats)_mm512_sqrt_ps((__m512)x);
#elif GN_VECTOR_BYTES == 32
    return (Floats)_mm256_sqrt_ps((__m256)x);
#elif defined(__SSE2__)
    return (Floats)_mm_sqrt_ps((__m128)x);
#else
    for (Index l = 0; l < lanes; ++l) x[l] = __builtin_sqrtf(x[l]);
    return x;
#endif
}

template <int n>
GN_INLINE Floats polynomial(const float (&coefficients)[n], Floats x) {
    Floats p = splat<Single>(coefficients[n - 1]);
    GN_UNROLL
    for (int k = n - 2; k >= 0; --k) p = p * x + coefficients[k];
    return p;
}

// log(u) for u in (0, 1], with a relative error below 4e-7; exactly 0 at 1.
GN_INLINE Floats log_of_part(Floats u) {
    // log(1 + f) = f + f^2 (f p(f) - 1/2) on [1/sqrt(2) - 1, sqrt(2) - 1], minimax: relative error 2.6e-7
    constexpr float p[] = {0.33334246f, -0.24983266f, 0.19924507f, -0.1713714f, 0.16024357f, -0.10191646f};
    constexpr int32_t sqrt_half = 0x3f3504f3;
    Integers exponent = ((Integers)u - sqrt_half) >> 23;
    Floats f = (Floats)((Integers)u - (exponent << 23)) - 1.0f;
    Floats logarithm = f + f * f * (f * polynomial(p, f) - 0.5f);
    return logarithm + __builtin_convertvector(exponent, Floats) * 0.6931472f;
}

struct Pair {
    Floats first, second;
};

// Two normal numbers from two words, by the method of Box and Muller: a radius and an angle.
GN_INLINE Pair normal_pair(Words for_radius, Words for_angle) {
    // on [-pi/4, pi/4], minimax: relative errors 4e-9 and 8e-8
    constexpr float sine[] = {1.0f, -0.16666655f, 0.008332161f, -1.9515284e-4f};
    constexpr float cosine[] = {1.0f, -0.5f, 0.041661073f, -0.0013648714f};
    Floats u = __builtin_convertvector((Integers)((for_radius >> 8) + 1), Floats) * 0x1p-24f;
    Floats radius = square_root(-2.0f * log_of_part(u));
    // The two upper bits are the quarter of the circle, the others an angle from -pi/4 to pi/4.
    Integers rest = (Integers)(for_angle << 2) >> 8;
    Floats angle = __builtin_convertvector(rest, Floats) * 0x1.921fb6p-24f;  // pi/4 / 2^23
    Floats square = angle * angle;
    Floats s = angle * polynomial(sine, square), c = polynomial(cosine, square);
    auto odd_quarter = (for_angle & 0x40000000u) != 0;
    Floats first = odd_quarter ? s : c, second = odd_quarter ? c : s;
    Words sign_first = (for_angle ^ (for_angle << 1)) & 0x80000000u, sign_second = for_angle & 0x80000000u;
    return {radius * (Floats)((Words)first ^ sign_first), radius * (Floats)((Words)second ^ sign_second)};
}

// Groups of normal numbers of one sample, with mean 0 and variance 1.
GN_INLINE void normals_of_sample(uint64_t seed, uint32_t purpose, uint64_t sample, Index groups,
                                 float* out) {  // OUT (groups * group_numbers,)
    const Words lane = count_lanes();
    for (Index at = 0; at < groups * group_blocks; at += lanes) {
        Block block = philox({all_words(uint32_t(sample)), all_words(uint32_t(sample >> 32)),
                              uint32_t(at) + lane, all_words(purpose)},
                             seed);
        Pair a = normal_pair(block.word[0], block.word[1]);
        Pair b = normal_pair(block.word[2], block.word[3]);
        float* to = out + at / group_blocks * group_numbers + at % group_blocks;
        store<Single>(to, a.first);
        store<Single>(to + group_blocks, a.second);
        store<Single>(to + 2 * group_blocks, b.first);
        store<Single>(to + 3 * group_blocks, b.second);
    }
}

// One block for each of the `lanes` samples from `first` on.
GN_INLINE Block blocks_of_samples(uint64_t seed, uint32_t purpose, uint64_t first, uint32_t block) {
    Words low, high;
    for (Index l = 0; l < lanes; ++l) {
        low[l] = uint32_t(first + l);
        high[l] = uint32_t((first + l) >> 32);
    }
    return philox({low, high, all_words(block), all_words(purpose)}, seed);
}

}  // namespace gaussian_neurons::GN_ISA
