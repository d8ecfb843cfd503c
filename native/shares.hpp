// Neurons that share each sample: equations [21] to [23] of docs/algorithm.md.
//
// A vector holds the same dimension of consecutive neurons, one in each lane. Padding lanes get the log-density -inf,
// so that they have no share.
#pragma once

#include "lanes.hpp"

namespace gaussian_neurons::GN_ISA {

constexpr double least_share = 0x1p-13;  // smaller ones count as 0

template <class S>
GN_INLINE Index shares_lanes(Index K) {
    return (K + S::lanes - 1) / S::lanes * S::lanes;
}

template <class S>
Index shares_workspace(Index K, Index D) {
    return shares_lanes<S>(K) * (D + 4);
}

template <class S>
void learn_shares(Index K, Index D, Index n, double rate, double least_width, double reach,
                  const typename S::number* samples, const bool* resting, typename S::number* centers,
                  typename S::number* widths, double* totals, typename S::number* work) {
    using T = typename S::number;
    constexpr Index L = S::lanes;
    const Index lanes = shares_lanes<S>(K);
    T *center = work, *inverse = work + lanes * D, *offset = inverse + lanes, *distance = offset + lanes,
      *share = distance + lanes;
    const auto renew = [&](Index i) {
        inverse[i] = 1 / widths[i];
        offset[i] = T(0.5 * double(D) * __builtin_log(double(widths[i])));
    };
    for (Index d = 0; d < D; ++d)
        for (Index i = 0; i < lanes; ++i) center[d * lanes + i] = i < K ? centers[i * D + d] : 0;
    for (Index i = 0; i < K; ++i) renew(i);
    for (Index i = K; i < lanes; ++i) inverse[i] = 0, offset[i] = T(__builtin_inf());
    const T two_over_D = T(2) / T(D), farthest = S::largest / 4;

    for (Index t = 0; t < n; ++t, samples += D) {
        auto best = splat<S>(T(-__builtin_inf()));
        for (Index lane = 0; lane < lanes; lane += L) {
            typename S::vector sum = {};
            for (Index d = 0; d < D; ++d) {
                const auto difference = samples[d] - load<S>(center + d * lanes + lane);
                sum += difference * difference;
            }
            store<S>(distance + lane, sum);
            const auto log_density = -sum * load<S>(inverse + lane) - load<S>(offset + lane);
            store<S>(share + lane, log_density);
            best = larger<S>(log_density, best);
        }
        for (Index i = K; i < lanes; ++i) share[i] = T(-__builtin_inf());  // NaN if the sample's square overflows
        T most = best[0];
        for (Index l = 1; l < L; ++l) most = best[l] > most ? best[l] : most;
        if (!(most > -__builtin_inf())) continue;  // squared distances overflow: out of reach of all neurons
        Index winner = 0;
        while (winner < K - 1 && share[winner] != most) ++winner;
        if (double(distance[winner] * inverse[winner]) > reach) continue;
        typename S::vector sums = {};
        for (Index lane = 0; lane < lanes; lane += L) {
            const auto relative = exp_of_negative<S>(load<S>(share + lane) - most);
            store<S>(share + lane, relative);
            sums += relative;
        }
        T total = 0;
        for (Index l = 0; l < L; ++l) total += sums[l];
        const T least = T(least_share) * total;
        for (Index i = 0; i < K; ++i) {
            if (share[i] < least || resting[i] || !(distance[i] < farthest)) continue;
            const double part = double(share[i]) / double(total);
            totals[i] += part;
            const double own_rate = 1 / (1 + totals[i]);
            const T step = T(part * (own_rate > rate ? own_rate : rate));
            T width = widths[i] + step * ((1 - step) * two_over_D * distance[i] - widths[i]);
            widths[i] = width > T(least_width) ? width : T(least_width);
            renew(i);
            for (Index d = 0; d < D; ++d) {
                T& place = center[d * lanes + i];
                place += step * (samples[d] - place);
            }
        }
    }
    for (Index d = 0; d < D; ++d)
        for (Index i = 0; i < K; ++i) centers[i * D + d] = center[d * lanes + i];
}

}  // namespace gaussian_neurons::GN_ISA
