// Vector types of one instruction set, and the exponential on them.
//
// The same source is compiled once for each instruction set. All of it is in a namespace named after the
// instruction set (GN_ISA), because the linker would merge inline functions of the same name. For the same
// reason no kernel calls a function of the C++ library.
#pragma once

#include <stdint.h>

#include <utility>

#include "index.hpp"

#ifdef __AVX2__
#include <immintrin.h>
#endif

#define GN_INLINE inline __attribute__((always_inline))
#define GN_INLINED __attribute__((always_inline))  // for lambdas: their arguments stay in registers
#define GN_APART __attribute__((noinline))  // a separate function gives the compiler enough registers
#ifdef __clang__
#define GN_UNROLL _Pragma("unroll")
#else
#define GN_UNROLL _Pragma("GCC unroll 32")
#endif

namespace gaussian_neurons::GN_ISA {

template <int Bytes>
struct SingleOf {
    using number = float;
    typedef float vector __attribute__((vector_size(Bytes)));
    using integer = uint32_t;
    typedef uint32_t integers __attribute__((vector_size(Bytes)));
    typedef float four __attribute__((vector_size(16), aligned(4), may_alias));  // at any address
    static constexpr Index lanes = Bytes / sizeof(float);

    static constexpr float lowest = -87.0f;  // exp of smaller numbers is 0
    static constexpr float largest = __FLT_MAX__;
    static constexpr float round_to_integer = 0x1.8p23f;
    static constexpr int mantissa_bits = 23;
    static constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
    // exp(r) for |r| <= ln(2)/2, the first two coefficients fixed at 1: relative error 3e-9
    static constexpr float polynomial[] = {1.0f,        1.0f,          0.49999994f, 0.16666521f,
                                           0.04166839f, 0.0083687175f, 0.0013814596f};
    // 2^r for |r| <= 1/2, minimax: relative error 2e-9
    static constexpr float power[] = {1.00000000055f,   0.693147205736f,   0.240226468905f,  0.0555032877731f,
                                      0.00961848895815f, 0.00133999312496f, 0.000153458134838f};
};

template <int Bytes>
struct DoubleOf {
    using number = double;
    typedef double vector __attribute__((vector_size(Bytes)));
    using integer = uint64_t;
    typedef uint64_t integers __attribute__((vector_size(Bytes)));
    typedef double four __attribute__((vector_size(32), aligned(8), may_alias));
    static constexpr Index lanes = Bytes / sizeof(double);

    static constexpr double lowest = -708.0;
    static constexpr double largest = __DBL_MAX__;
    static constexpr double round_to_integer = 0x1.8p52;
    static constexpr int mantissa_bits = 52;
    static constexpr double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;
    // exp(r) for |r| <= ln(2)/2, minimax: relative error 3e-18
    static constexpr double polynomial[] = {1.0,
                                            1.0,
                                            0x1.0000000000010p-1,
                                            0x1.55555555554a2p-3,
                                            0x1.555555554f370p-5,
                                            0x1.1111111130dcbp-7,
                                            0x1.6c16c187810cbp-10,
                                            0x1.a01a01105aa99p-13,
                                            0x1.a01992d10a53cp-16,
                                            0x1.71df4518fbb06p-19,
                                            0x1.28b311be66622p-22,
                                            0x1.ad6628b5cfc2ep-26};
    // 2^r for |r| <= 1/2, minimax: relative error 3e-18
    static constexpr double power[] = {1.0,
                                       0x1.62e42fefa39efp-1,
                                       0x1.ebfbdff82c5adp-3,
                                       0x1.c6b08d7049fd0p-5,
                                       0x1.3b2ab6fb9f413p-7,
                                       0x1.5d87fe78cf287p-10,
                                       0x1.43091310bf554p-13,
                                       0x1.ffcbfba7b1ac1p-17,
                                       0x1.62bfc3c1f213cp-20,
                                       0x1.b52678986aaeep-24,
                                       0x1.e620fb3ed215ep-28,
                                       0x1.e7a9fd120c3f7p-32};
};

using Single = SingleOf<GN_VECTOR_BYTES>;
using Double = DoubleOf<GN_VECTOR_BYTES>;

// Pairs of neurons are computed in squares of `group` x `group`, and squares in blocks of `block` x `block`.
constexpr Index group = 8;
constexpr Index block = group * group;

// The vector type with at most `group` lanes.
template <class S>
struct Narrowed {
    using type = S;
};
template <>
struct Narrowed<SingleOf<64>> {
    using type = SingleOf<32>;
};
template <class S>
using Narrow = typename Narrowed<S>::type;

template <class S>
GN_INLINE typename S::vector load(const typename S::number* from) {
    return *reinterpret_cast<const typename S::vector*>(from);
}

template <class S>
GN_INLINE void store(typename S::number* to, typename S::vector value) {
    *reinterpret_cast<typename S::vector*>(to) = value;
}

// The part of a vector that begins at a lane, as a narrow vector.
template <class S>
GN_INLINE typename Narrow<S>::vector narrow(typename S::vector value, Index lane) {
#ifdef __AVX512F__
    if constexpr (S::lanes > group)
        return (typename Narrow<S>::vector)(lane ? _mm512_extractf32x8_ps((__m512)value, 1)
                                                 : _mm512_castps512_ps256((__m512)value));
    else
#endif
        return (void)lane, value;
}

template <class S>
GN_INLINE typename S::vector splat(typename S::number value) {
    return value - typename S::vector{};
}

template <class S>
GN_INLINE typename S::vector smaller(typename S::vector a, typename S::vector b) {
    return a < b ? a : b;
}

template <class S>
GN_INLINE typename S::vector larger(typename S::vector a, typename S::vector b) {
    return a > b ? a : b;
}

// Whether a is below b in every lane.
template <class S>
GN_INLINE bool all_below(typename S::vector a, typename S::number b) {
#ifdef __AVX512F__
    if constexpr (sizeof(a) == 64) {
        if constexpr (sizeof(b) == 4)
            return _mm512_cmp_ps_mask((__m512)a, _mm512_set1_ps(float(b)), _CMP_NLT_UQ) == 0;
        else
            return _mm512_cmp_pd_mask((__m512d)a, _mm512_set1_pd(double(b)), _CMP_NLT_UQ) == 0;
    }
#endif
    typename S::integers outside = a < b ? typename S::integers{} : ~typename S::integers{};
#ifdef __AVX2__
    if constexpr (sizeof(a) == 32) return _mm256_testz_si256((__m256i)outside, (__m256i)outside);
#endif
    uint64_t any = 0;
    for (Index k = 0; k < S::lanes; ++k) any |= outside[k];
    return any == 0;
}

template <class S, Index Terms>
GN_INLINE typename S::vector polynomial(const typename S::number (&terms)[Terms], typename S::vector r) {
    auto p = splat<S>(terms[Terms - 1]);
    GN_UNROLL
    for (Index k = Terms - 2; k >= 0; --k) p = p * r + terms[k];
    return p;
}

constexpr double log2_e = 1.4426950408889634;

// exp(x) for x <= 0, with an error of at most two units in the last place; exactly 1 at 0, 0 below `lowest`.
template <class S>
GN_INLINE typename S::vector exp_of_negative(typename S::vector x) {
    using V = typename S::vector;
    using I = typename S::integers;
    V shifted = x * typename S::number(log2_e) + S::round_to_integer;  // low bits: n = round(x / ln 2)
    V n = shifted - S::round_to_integer;
    V r = (x - n * S::ln2_high) - n * S::ln2_low;
    I scaled = (I)polynomial<S>(S::polynomial, r) + ((I)shifted << S::mantissa_bits);  // polynomial * 2^n
    return x < S::lowest ? V{} : (V)scaled;
}

// 2^x for x <= 0, 0 below `lowest`. Cheaper than exp_of_negative, but not exactly 1 at 0.
template <class S>
GN_INLINE typename S::vector power_of_two(typename S::vector x, typename S::number lowest) {
    using V = typename S::vector;
    using I = typename S::integers;
    V shifted = x + S::round_to_integer;
    V r = x - (shifted - S::round_to_integer);
    I scaled = (I)polynomial<S>(S::power, r) + ((I)shifted << S::mantissa_bits);
    return x < lowest ? V{} : (V)scaled;
}

// ---- transposing a square of numbers ----------------------------------------------------------------

#ifdef __clang__
#define GN_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define GN_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, typename S::integers{__VA_ARGS__})
#endif

// Swap the upper right and lower left squares of side `step` in every square of side 2 step.
template <class S, int step, int... lane>
GN_INLINE void swap_squares(typename S::vector* rows, std::integer_sequence<int, lane...>) {
    constexpr int L = S::lanes;
    GN_UNROLL
    for (int r = 0; r < L; ++r) {
        if (r & step) continue;
        auto a = rows[r], b = rows[r + step];
        rows[r] = GN_SHUFFLE(a, b, ((lane & step) ? L + lane - step : lane)...);
        rows[r + step] = GN_SHUFFLE(a, b, ((lane & step) ? L + lane : lane + step)...);
    }
}

template <class S, int step = S::lanes / 2>
GN_INLINE void transpose(typename S::vector* rows) {
    if constexpr (step > 0) {
        swap_squares<S, step>(rows, std::make_integer_sequence<int, S::lanes>{});
        transpose<S, step / 2>(rows);
    }
}

}  // namespace gaussian_neurons::GN_ISA
