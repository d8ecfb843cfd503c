// The kernels of one instruction set. This file is compiled once for each; GN_ISA names it.
#include "learning.hpp"
#include "shares.hpp"

namespace gaussian_neurons::GN_ISA {

// Fewer samples are measured without transposing the centers first; the bits are the same.
constexpr Index fewest_to_transpose = 4;

template <class S>
Index measure_workspace(Index K, Index D, Index n) {
    const Index lanes = Layer<S>::round_up(K, S::lanes);
    return 2 * lanes + (n < fewest_to_transpose ? lanes : Layer<S>::measuring_size(K, D));
}

// Call use(t, distances to the K centers) for each sample t; distances are 0 or more in the padding.
template <class S, class Use>
GN_INLINE void measure_samples(Index K, Index D, Index n, const typename S::number* samples,
                               const typename S::number* centers, typename S::number* work, Use use) {
    if (n < fewest_to_transpose) {
        for (Index i = K; i < Layer<S>::round_up(K, S::lanes); ++i) work[i] = 0;
        for (Index t = 0; t < n; ++t) {
            for (Index i = 0; i < K; ++i) work[i] = measure_center<S>(D, centers + i * D, samples + t * D);
            use(t, work);
        }
        return;
    }
    const auto layer = Layer<S>::measuring(K, D, centers, work);
    for (Index t = 0; t < n; ++t) {
        measure_sample(layer, samples + t * D);
        use(t, layer.distance);
    }
}

template <class S>
void distances(Index K, Index D, Index n, const typename S::number* samples, const typename S::number* centers,
               typename S::number* out, typename S::number* work) {
    measure_samples<S>(K, D, n, samples, centers, work, [&](Index t, const auto* distance) {
        for (Index i = 0; i < K; ++i) out[t * K + i] = distance[i];
    });
}

template <class S>
void strongest(Index K, Index D, Index n, const typename S::number* samples, const typename S::number* centers,
               const typename S::number* widths, const typename S::number* offsets, int64_t* winner,
               typename S::number* log_response, typename S::number* work) {
    constexpr Index L = S::lanes;
    const Index lanes = Layer<S>::round_up(K, L);
    typename S::number *width = work, *offset = work + lanes;  // (lanes,)
    for (Index i = 0; i < lanes; ++i) {
        width[i] = i < K ? widths[i] : 0;  // values in the padding are -inf or NaN and never win
        offset[i] = i < K ? offsets[i] : 0;
    }
    typename S::integers first;
    for (Index l = 0; l < L; ++l) first[l] = typename S::integer(l);
    measure_samples<S>(K, D, n, samples, centers, work + 2 * lanes, [&](Index t, const auto* distance) {
        auto best = splat<S>(-__builtin_inf()), response = best;
        auto at = first;
        for (Index lane = 0; lane < lanes; lane += L) {
            auto value = -load<S>(distance + lane) / load<S>(width + lane);
            auto compared = value - load<S>(offset + lane);
            auto wins = compared > best;
            at = wins ? first + typename S::integer(lane) : at;
            response = wins ? value : response;
            best = wins ? compared : best;
        }
        Index lane = 0;
        for (Index l = 1; l < L; ++l)
            if (best[l] > best[lane] || (best[l] == best[lane] && at[l] < at[lane])) lane = l;
        winner[t] = int64_t(at[lane]);
        log_response[t] = response[lane];
    });
}

template <class S>
constexpr Kernels<typename S::number> kernels() {
    return {learn_workspace<S>, open<S>,     learn<S>, write<S>, shares_workspace<S>, learn_shares<S>,
            measure_workspace<S>, distances<S>, forms<S>, strongest<S>};
}

extern const Kernels<float> single_precision = kernels<Single>();
extern const Kernels<double> double_precision = kernels<Double>();

}  // namespace gaussian_neurons::GN_ISA
