// The kernels of one instruction set. Compiled once for each, with GN_ISA naming it.
#include "learning.hpp"

namespace gaussian_neurons::GN_ISA {

template <class S>
void distances(Index K, Index D, Index n, const typename S::number* samples,
               const typename S::number* centers, typename S::number* out,
               typename S::number* work) {
    auto layer = Layer<S>::measuring(K, D, work);
    layer.read_centers(centers);
    for (Index t = 0; t < n; ++t) {
        measure_sample(layer, samples + t * D);
        for (Index i = 0; i < K; ++i) out[t * K + i] = layer.distance[i];
    }
}

// Independent chains, enough of them to keep every arithmetic unit busy.
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
    typename S::number values[8 * S::lanes] __attribute__((aligned(64)));
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

template <class S>
constexpr Kernels<typename S::number> kernels() {
    return {Session<S>::size,         open<S>,      learn<S>,         write<S>,        Layer<S>::measuring_size,
            distances<S>,             multiply_adds<S>, exponentials<S>, S::lanes, group};
}

extern const Kernels<float> single_precision = kernels<Single>();
extern const Kernels<double> double_precision = kernels<Double>();

}  // namespace gaussian_neurons::GN_ISA
