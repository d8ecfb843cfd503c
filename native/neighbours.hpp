// Equation 1 for many neurons if most pairs are too far apart to have a weight.
//
// Each vector of neurons has a list of all neurons within reach of any of them. The reach includes a margin:
// lists are valid until a neuron has moved by half the margin. Only listed pairs are measured.
//
// While there are lists, neurons are stored in an order by place, so that those of a vector are near to each
// other and have short lists. Lists are in the order in which neurons are numbered. All other pairs have weight
// 0 in `steps.hpp`, and sums are in the same order, so the bits are the same as without lists.
#pragma once

#include "steps.hpp"

namespace gaussian_neurons::GN_ISA {

constexpr Index fewest_for_lists = 32;  // neurons
constexpr double margin = 0.5;          // in square roots of the largest width
constexpr double fullest = 0.4;         // lists with a larger share of all vectors and neurons are not used
constexpr double head_start = 0.125;    // part of all vectors that may be over that share
constexpr Index shortest_life = 2;      // samples; lists that are valid for fewer are not made again at once
constexpr Index shortest_wait = 16, longest_wait = 512;  // samples; twice as long after each failure

// Sorts neurons by place: divides them at the median of the coordinate that varies most, again and again.
template <class S>
struct ByPlace {
    const Layer<S>& layer;
    int32_t* order;  // INOUT

    void sort(Index begin, Index end) const {
        constexpr Index L = S::lanes;
        if (end - begin <= L) return;
        const Index dim = widest(begin, end), middle = begin + Layer<S>::round_up((end - begin) / 2, L);
        for (Index low = begin, high = end - 1; low < high;) {  // Hoare's selection
            const auto pivot = at(dim, order[low + (high - low) / 2]);
            Index i = low, j = high;
            while (i <= j) {
                while (at(dim, order[i]) < pivot) ++i;
                while (pivot < at(dim, order[j])) --j;
                if (i > j) break;
                const int32_t other = order[i];
                order[i++] = order[j];
                order[j--] = other;
            }
            if (middle <= j)
                high = j;
            else if (middle >= i)
                low = i;
            else
                break;
        }
        sort(begin, middle);
        sort(middle, end);
    }

private:
    auto at(Index dim, Index i) const { return layer.centers[layer.place(i) + dim * layer.pitch]; }

    Index widest(Index begin, Index end) const {
        Index found = 0;
        typename S::number most = -1;
        for (Index d = 0; d < layer.D; ++d) {
            auto low = at(d, order[begin]), high = low;
            for (Index k = begin + 1; k < end; ++k) {
                const auto value = at(d, order[k]);
                low = value < low ? value : low;
                high = value > high ? value : high;
            }
            if (high - low > most) most = high - low, found = d;
        }
        return found;
    }
};

template <class S>
struct Neighbours {
    using T = typename S::number;
    static constexpr Index L = S::lanes;

    T* at;           // (numbers,)      the centers when the lists were made
    T* weights;      // (K + group, L)  of one vector of neurons
    int32_t* list;   // (lanes / L, K)  places of the neurons near each vector of neurons
    int32_t* count;  // (lanes / L,)    length of each list
    int32_t* order;  // (K,)            the neuron at each place; 0, 1, 2, ... without lists
    int32_t* placed; // (K,)            the place of each neuron
    bool listed = false;
    Index served = 0, wait = 0, next_wait = shortest_wait;

    static Index size(Index K, Index D) {
        Index vectors = Layer<S>::round_up(K, L) / L;
        Index integers = (vectors * (K + 1) + 2 * K) * Index(sizeof(int32_t)) / Index(sizeof(T)) + 1;
        return Layer<S>::numbers_of(K, D) + (K + group) * L + Layer<S>::round_up(integers, L);
    }

    Neighbours(const Layer<S>& layer, T* work) {
        at = work;
        weights = at + layer.numbers;
        list = reinterpret_cast<int32_t*>(weights + (layer.K + group) * L);
        count = list + layer.lanes / L * layer.K;
        order = count + layer.lanes / L;
        placed = order + layer.K;
    }

    // The neurons in the order of their numbers.
    void release(Layer<S>& layer) {
        if (listed) layer.arrange(placed);
        listed = false;
    }

    // Whether lists can be used for this sample. Makes them again if they are no longer valid.
    bool hold(Layer<S>& layer) {
        if (listed && !stayed(layer)) {
            release(layer);
            if (served < shortest_life)
                pause();
            else
                next_wait = shortest_wait;
        }
        if (!listed) {
            if (wait > 0) return --wait, false;
            served = 0;
            listed = make(layer);
            if (!listed) {
                layer.arrange(placed);
                pause();
            }
        }
        ++served;
        return listed;
    }

private:
    void pause() {
        wait = next_wait;
        next_wait = 2 * wait < longest_wait ? 2 * wait : longest_wait;
    }

    // Append those of R neurons that are near to any neuron of one vector to a list of n.
    template <Index R>
    GN_APART static Index append(const Layer<S>& layer, const int32_t* rows, Index lane, T most, int32_t* near,
                                 Index n) {
        measure_tile<S, false>(layer, Listed<R>{rows}, lane, nullptr, [&](const auto& pairs) GN_INLINED {
            GN_UNROLL
            for (Index r = 0; r < R; ++r) {
                near[n] = rows[r];
                n += !all_below<S>(-pairs[r], -most);
            }
        });
        return n;
    }

    // The square of a distance in square roots of the largest width.
    static T squared(const Layer<S>& layer, double root) { return T(root * root) / layer.least_inverse; }

    bool stayed(const Layer<S>& layer) const {
        const T most = squared(layer, 0.5 * margin);
        for (Index lane = 0; lane < layer.lanes; lane += L) {
            Index place = layer.place(lane);
            typename S::vector sum = {};
            for (Index d = 0; d < layer.D; ++d, place += layer.pitch) {
                auto way = load<S>(layer.centers + place) - load<S>(at + place);
                sum += way * way;
            }
            if (!all_below<S>(sum, most)) return false;
        }
        return true;
    }

    // Arranges the neurons by place, and makes the lists; false if these are too long.
    bool make(Layer<S>& layer) {
        for (Index i = 0; i < layer.K; ++i) order[i] = int32_t(i);
        ByPlace<S>{layer, order}.sort(0, layer.K);
        for (Index i = 0; i < layer.K; ++i) placed[order[i]] = int32_t(i);
        layer.arrange(order);
        constexpr double root = sizeof(T) == 4 ? 5.4773 : 7.0711;
        static_assert(root * root > far<S>);
        const T most = squared(layer, root + margin + 0.01);  // 0.01: rounding errors
        Index all = 0;
        for (Index lane = 0; lane < layer.lanes; lane += L) {
            int32_t* near = list + lane / L * layer.K;
            Index n = 0;
            for (Index row = 0; row < layer.K; row += group)
                with_rows(layer.K - row, [&](auto R) { n = append<R()>(layer, placed + row, lane, most, near, n); });
            if (n == 0) near[n++] = int32_t(lane);  // never empty; the weight of a neuron to itself is 0
            count[lane / L] = int32_t(n);
            all += n;
            if (double(all) > fullest * double(layer.K) * (lane / L + 1 + layer.lanes / L * head_start))
                return false;
        }
        for (Index i = 0; i < layer.numbers; ++i) at[i] = layer.centers[i];
        return true;
    }
};

// The neurons j of a list, for one vector of lanes: see Pushers.
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

// The weights of R neurons of a list and one vector of lanes.
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

// sum_j w_ij mu_j and sum_j w_ij of the neurons in one vector of lanes, for a few dimensions.
template <Index Dims, class S>
struct Sums {
    typename S::vector mine[Dims], step[Dims] = {}, push = {};
};

// Add R neurons of a list. Weights stay in registers; the sums are in the same order as in move_tile.
template <Index R, Index Dims, class S, class Weigh>
GN_INLINE void add_listed(Sums<Dims, S>& sums, const Layer<S>& layer, const Weigh& weigh, const int32_t* list,
                          Index lane) {
    using V = typename S::vector;
    const typename S::number* their[R];
    V pairs[R] = {}, weights[R];
    GN_UNROLL
    for (Index r = 0; r < R; ++r) their[r] = layer.centers + layer.place(list[r]);
    GN_UNROLL
    for (Index d = 0; d < Dims; ++d)
        GN_UNROLL
        for (Index r = 0; r < R; ++r) {
            V difference = sums.mine[d] - their[r][d * layer.pitch];
            pairs[r] += difference * difference;
        }
    GN_UNROLL
    for (Index r = 0; r < R; ++r) {
        V weight = weigh.template weight<S>(pairs[r], list[r], lane);
        weights[r] = pairs[r] > 0 ? weight : V{};
    }
    GN_UNROLL
    for (Index r = 0; r < R; ++r) {
        sums.push += weights[r];
        GN_UNROLL
        for (Index d = 0; d < Dims; ++d) sums.step[d] += weights[r] * their[r][d * layer.pitch];
    }
}

template <Index Dims, class S, class Weigh>
GN_APART void step_listed(const Layer<S>& layer, const Weigh weigh, Rule rule, const int32_t* list, Index n,
                          Index lane, const typename S::number* x) {
    Sums<Dims, S> sums;
    typename S::vector to_sample = {};
    const Index mine = layer.place(lane);
    GN_UNROLL
    for (Index d = 0; d < Dims; ++d) {
        sums.mine[d] = load<S>(layer.centers + mine + d * layer.pitch);
        auto difference = sums.mine[d] - x[d];
        to_sample += difference * difference;
    }
    store<S>(layer.distance + lane, to_sample);
    const auto pull = pull_of<S>(layer, rule, lane);
    for (Index k = 0; k < n; k += group)
        with_rows(n - k, [&](auto R) GN_INLINED { add_listed<R()>(sums, layer, weigh, list + k, lane); });
    GN_UNROLL
    for (Index d = 0; d < Dims; ++d)
        store<S>(layer.moved + mine + d * layer.pitch, stepped(sums.mine[d], pull, x[d], sums.step[d], sums.push));
}

constexpr Index few_dimensions = 4;

// Call f with the number of dimensions, at most `few_dimensions`, as a compile-time constant.
template <Index D = few_dimensions, class F>
GN_INLINE bool with_few(Index dimensions, F f) {
    if constexpr (D > 0) {
        if (dimensions != D) return with_few<D - 1>(dimensions, f);
        f(std::integral_constant<Index, D>{});
        return true;
    } else {
        return false;
    }
}

template <class S, class Weigh>
void learn_listed(Layer<S>& layer, const Neighbours<S>& near, Rule rule, const Weigh& weigh,
                  const typename S::number* x) {
    constexpr Index L = S::lanes;
    for (Index lane = 0; lane < layer.lanes; lane += L) {
        const int32_t* list = near.list + lane / L * layer.K;
        const Index n = near.count[lane / L];
        if (with_few(layer.D, [&](auto D) { step_listed<D()>(layer, weigh, rule, list, n, lane, x); })) continue;
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
