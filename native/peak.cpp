// How many independent multiply-adds and exponentials one core completes: for the benchmarks, not installed
// by default. A library of its own for each instruction set, loaded with ctypes.
#include "lanes.hpp"

namespace gaussian_neurons::GN_ISA {

// Independent chains of operations: enough to keep all arithmetic units busy.
constexpr Index chains = GN_VECTOR_REGISTERS * 3 / 4;

template <class S>
double multiply_adds(Index rounds) {
    using V = typename S::vector;
    volatile typename S::number factor = 0.999, term = 1e-3, sink;
    V a = splat<S>(factor), b = splat<S>(term), sum[chains];
    GN_UNROLL
    for (Index k = 0; k < chains; ++k) sum[k] = splat<S>(typename S::number(k));
    for (Index r = 0; r < rounds; ++r) {
        GN_UNROLL
        for (Index k = 0; k < chains; ++k) sum[k] = sum[k] * a + b;
    }
    V total = {};
    GN_UNROLL
    for (Index k = 0; k < chains; ++k) total += sum[k];
    sink = total[0];
    (void)sink;
    return double(rounds) * chains * S::lanes;
}

template <class S>
double exponentials(Index rounds) {
    using V = typename S::vector;
    volatile typename S::number sink;
    alignas(64) typename S::number values[8 * S::lanes];
    for (Index i = 0; i < 8 * S::lanes; ++i) values[i] = -typename S::number(i);
    V total = {};
    for (Index r = 0; r < rounds; ++r) {
        for (Index i = 0; i < 8; ++i) {
            V e = exp_of_negative<S>(load<S>(values + i * S::lanes));
            store<S>(values + i * S::lanes, -e);
            total += e;
        }
    }
    sink = total[0];
    (void)sink;
    return double(rounds) * 8 * S::lanes;
}

}  // namespace gaussian_neurons::GN_ISA

// Each returns the number of operations in so many rounds.
using namespace gaussian_neurons::GN_ISA;
extern "C" {
double multiply_adds_float32(std::ptrdiff_t rounds) { return multiply_adds<Single>(rounds); }
double multiply_adds_float64(std::ptrdiff_t rounds) { return multiply_adds<Double>(rounds); }
double exponentials_float32(std::ptrdiff_t rounds) { return exponentials<Single>(rounds); }
double exponentials_float64(std::ptrdiff_t rounds) { return exponentials<Double>(rounds); }
extern const int vector_bytes = GN_VECTOR_BYTES;
extern const int group_size = group;
}
