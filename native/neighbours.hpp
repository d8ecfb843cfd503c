// Equation 1 for many neurons most of which are too far apart to have a weight: those need not even be
// measured. For each vector of neurons there is a list of all that are near any of them, and a little
// beyond; it holds until some neuron has moved half of that little from where it was when listed. The pairs
// left out have no weight in `steps.hpp` either, and all sums go on in the same order: the same bits.
#pragma once

#include "steps.hpp"

namespace gaussian_neurons::GN_ISA {

constexpr Index fewest_for_lists = 32;   // neurons
constexpr double little = 1;            // in square roots of the largest width
constexpr double worth_it = 0.4;        // of all vectors and neurons, at most, in the lists
constexpr Index shortest_life = 8;       // samples that lists should have served
constexpr Index until_next_try = 512;    // samples

template <class S>
struct Neighbours {
    using T = typename S::number;
    static constexpr Index L = S::lanes;

    T* at;           // (numbers,)      the centers when they were listed
    T* weights;      // (K + group, L)  of the vector of neurons at hand
    int32_t* list;   // (lanes / L, K)  neurons near each vector of neurons
    int32_t* count;  // (lanes / L,)    how many
    bool listed = false;
    Index served = 0, wait = 0;

    static Index size(Index K, Index D) {
        Index vectors = Layer<S>::round_up(K, L) / L;
        Index integers = vectors * (K + 1) * Index(sizeof(int32_t)) / Index(sizeof(T)) + 1;
        return Layer<S>::numbers_of(K, D) + (K + group) * L + Layer<S>::round_up(integers, L);
    }

    Neighbours(const Layer<S>& layer, T* work) {
        at = work;
        weights = at + layer.numbers;
        list = reinterpret_cast<int32_t*>(weights + (layer.K + group) * L);
        count = list + layer.lanes / L * layer.K;
    }

    // Whether this sample may be learned by lists, which are made anew where they are too old.
    bool hold(const Layer<S>& layer) {
        if (listed && !stayed(layer)) {
            listed = false;
            if (served < shortest_life) wait = until_next_try;
        }
        if (!listed) {
            if (wait > 0) return --wait, false;
            served = 0;
            listed = make(layer);
            if (!listed) wait = until_next_try;
        }
        ++served;
        return listed;
    }

private:
    // Add those of R neurons that are near to any of one vector of lanes to a list of n.
    template <Index R>
    GN_APART static Index append(const Layer<S>& layer, Index row, Index lane, T most, int32_t* near, Index n) {
        measure_tile<S, false>(layer, Consecutive<R>{row}, lane, nullptr, [&](const auto& pairs) GN_INLINED {
            GN_UNROLL
            for (Index r = 0; r < R; ++r) {
                near[n] = int32_t(row + r);
                n += !all_below<S>(-pairs[r], -most);
            }
        });
        return n;
    }

    // The square of a distance, in the largest width.
    static T squared(const Layer<S>& layer, double root) { return T(root * root) / layer.least_inverse; }

    bool stayed(const Layer<S>& layer) const {
        const T most = squared(layer, 0.5 * little);
        for (Index lane = 0; lane < layer.lanes; lane += L) {
            const Index place = layer.place(lane);
            typename S::vector sum = {};
            for (Index d = 0; d < layer.D; ++d) {
                auto way = load<S>(layer.centers + place + d * layer.pitch) - load<S>(at + place + d * layer.pitch);
                sum += way * way;
            }
            if (!all_below<S>(sum, most)) return false;
        }
        return true;
    }

    bool make(const Layer<S>& layer) {
        constexpr double reach = 7.0711 + little + 0.01;  // the root of `far`, the little, and rounding
        static_assert(7.0711 * 7.0711 > far);
        const T most = squared(layer, reach);
        Index all = 0;
        for (Index lane = 0; lane < layer.lanes; lane += L) {
            int32_t* near = list + lane / L * layer.K;
            Index n = 0;
            for (Index row = 0; row < layer.K; row += group)
                with_rows(layer.K - row, [&](auto R) { n = append<R()>(layer, row, lane, most, near, n); });
            if (n == 0) near[n++] = int32_t(lane);  // a neuron has no weight to itself
            count[lane / L] = int32_t(n);
            all += n;
            if (double(all) > worth_it * double(layer.K) * double(layer.lanes / L)) return false;
        }
        for (Index i = 0; i < layer.numbers; ++i) at[i] = layer.centers[i];
        return true;
    }
};

// The neurons of a list that push one vector of lanes.
template <class S>
struct ListedPushers {
    const Layer<S>& layer;
    const int32_t* list;
    Index n;
    const typename S::number* weights;

    template <Index Lanes, class F>
    GN_INLINE void each(Index, F f) const {
        for (Index k = 0; k < n; ++k) f(layer.place(list[k]), weights + k * S::lanes);
    }
};

// The weights of R neurons of a list to one vector of lanes.
template <bool Sample, Index R, class S, class Weigh>
GN_APART void weigh_listed(const Layer<S>& layer, const Weigh weigh, const int32_t* list, Index lane,
                           const typename S::number* x, typename S::number* to) {
    const Listed<R> rows{list};
    measure_tile<S, Sample>(layer, rows, lane, x, [&](const auto& pairs) GN_INLINED {
        typename S::vector weights[group];
        weigh_tile<S>(layer, weigh, rows, lane, pairs, weights);
        store_rows<S>(to, S::lanes, weights);
    });
}

template <class S, class Weigh>
void learn_listed(Layer<S>& layer, const Neighbours<S>& near, Rule rule, const Weigh& weigh,
                  const typename S::number* x) {
    constexpr Index L = S::lanes;
    for (Index lane = 0; lane < layer.lanes; lane += L) {
        const int32_t* list = near.list + lane / L * layer.K;
        const Index n = near.count[lane / L];
        for (Index k = 0; k < n; k += group)
            with_rows(n - k, [&](auto R) {
                if (k == 0)
                    weigh_listed<true, R()>(layer, weigh, list + k, lane, x, near.weights + k * L);
                else
                    weigh_listed<false, R()>(layer, weigh, list + k, lane, x, near.weights + k * L);
            });
        store<S>(layer.pull + lane, pull_of<S>(layer, rule, lane));
        move_lanes<true, S, 1>(layer, ListedPushers<S>{layer, list, n, near.weights}, lane, x);
    }
    layer.step();
}

}  // namespace gaussian_neurons::GN_ISA
