// Vectors of numbers as wide as one instruction set has them, and the exponential on them.
//
// Everything here lives in a namespace named after the instruction set (GN_ISA), because the same
// source is compiled once for each: two builds of one inline function must never be mistaken for one
// another by the linker. For the same reason no kernel includes the C++ library.
#pragma once

#include <stdint.h>

#define GN_INLINE inline __attribute__((always_inline))
#ifdef __clang__
#define GN_UNROLL _Pragma("unroll")
#else
#define GN_UNROLL _Pragma("GCC unroll 16")
#endif

namespace gaussian_neurons::GN_ISA {

struct Single {
    using number = float;
    using vector = float __attribute__((vector_size(GN_VECTOR_BYTES)));
    using integers = int32_t __attribute__((vector_size(GN_VECTOR_BYTES)));
    static constexpr long lanes = GN_VECTOR_BYTES / sizeof(float);

    static constexpr float lowest = -87.0f;  // exp of anything below counts as 0
    static constexpr float round_to_integer = 0x1.8p23f;
    static constexpr int mantissa_bits = 23;
    static constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
    // exp(r) on |r| <= ln(2)/2, both leading coefficients held at 1: relative error 3e-9
    static constexpr float polynomial[] = {1.0f,        1.0f,          0.49999994f, 0.16666521f,
                                           0.04166839f, 0.0083687175f, 0.0013814596f};
};

struct Double {
    using number = double;
    using vector = double __attribute__((vector_size(GN_VECTOR_BYTES)));
    using integers = int64_t __attribute__((vector_size(GN_VECTOR_BYTES)));
    static constexpr long lanes = GN_VECTOR_BYTES / sizeof(double);

    static constexpr double lowest = -708.0;
    static constexpr double round_to_integer = 0x1.8p52;
    static constexpr int mantissa_bits = 52;
    static constexpr double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;
    // minimax on |r| <= ln(2)/2: relative error 3e-18
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
};

template <class S>
GN_INLINE typename S::vector load(const typename S::number* from) {
    return *reinterpret_cast<const typename S::vector*>(from);
}

template <class S>
GN_INLINE void store(typename S::number* to, typename S::vector value) {
    *reinterpret_cast<typename S::vector*>(to) = value;
}

template <class S>
GN_INLINE typename S::vector splat(typename S::number value) {
    return value - typename S::vector{};
}

template <class S>
GN_INLINE typename S::vector larger(typename S::vector a, typename S::vector b) {
    return a > b ? a : b;
}

// exp(x) for x <= 0, within two units in the last place; exactly 1 at 0, exactly 0 below `lowest`.
template <class S>
GN_INLINE typename S::vector exp_of_negative(typename S::vector x) {
    using V = typename S::vector;
    using I = typename S::integers;
    constexpr int degree = sizeof(S::polynomial) / sizeof(S::polynomial[0]) - 1;
    constexpr typename S::number log2_e = 1.4426950408889634;
    V shifted = x * log2_e + S::round_to_integer;  // its low bits are now n = round(x / ln 2)
    V n = shifted - S::round_to_integer;
    V r = (x - n * S::ln2_high) - n * S::ln2_low;
    V p = splat<S>(S::polynomial[degree]);
GN_UNROLL
    for (int k = degree - 1; k >= 0; --k) p = p * r + S::polynomial[k];
    I scaled = (I)p + ((I)shifted << S::mantissa_bits);  // p * 2^n: add n to the exponent
    return x < S::lowest ? V{} : (V)scaled;
}

}  // namespace gaussian_neurons::GN_ISA
