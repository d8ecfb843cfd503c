// Equations 1 and 2: the steps of centers and widths, given the weights of all pairs.
#pragma once

#include "weighing.hpp"

namespace gaussian_neurons::GN_ISA {

constexpr Index tile_steps = GN_VECTOR_REGISTERS / 2;  // dimensions times vectors in a tile of steps

// eta f_i(x) / sigma_i, the factor of x - mu_i.
template <class V, class S>
GN_INLINE typename V::vector pull_of(const Layer<S>& layer, Rule rule, Index lane) {
    auto inverse = load<V>(layer.inverse + lane);
    auto response = exp_of_negative<V>(-load<V>(layer.distance + lane) * inverse);
    return typename S::number(rule.learning_rate) * inverse * response;
}

// The neurons j of a block: each() calls f(place of the center, weights) for those with a weight.
template <class S>
struct Pushers {
    const Layer<S>& layer;
    const Block<S>& block_of;
    Index first_row, first_lane, rows;

    template <Index Lanes, class F>
    GN_INLINE void each(Index lane, F f) const {
        const auto* weights = block_of.weights + lane - first_lane;
        const Index place = layer.place(first_row);
        for (Index row = 0; row < rows; row += group) {
            if (!block_of.template any<Lanes>(row, lane - first_lane)) continue;
            Index end = row + group < rows ? row + group : rows;
            for (Index j = row; j < end; ++j) f(place + j, weights + j * block);
        }
    }
};

// A center after its step: mu + pull (x - mu) + sum_j w_j mu_j - mu sum_j w_j.
template <class L, class T>
GN_INLINE L stepped(L center, L pull, T x, L sum, L push) {
    return center + (pull * (x - center) + (sum - push * center));
}

// Some dimensions of the neurons in some vectors V. If `Whole`, `pushers` are all neurons j and the step is
// completed. Otherwise sum_j w_ij mu_j and sum_j w_ij are added to layer.moved and layer.push.
template <bool Whole, class V, Index Dims, Index Vectors, class S, class From>
GN_APART void move_tile(const Layer<S>& layer, const From& pushers, Index dim, Index lane,
                        const typename S::number* x) {
    using T = typename S::number;
    using Lanes = typename V::vector;
    constexpr Index L = V::lanes;
    const Index pitch = layer.pitch, mine = layer.place(lane) + dim * pitch;
    Lanes step[Dims][Vectors] = {}, push[Vectors] = {};
    T *moved = layer.moved + mine, *pushed = layer.push + lane;
    if constexpr (!Whole) {
        GN_UNROLL
        for (Index v = 0; v < Vectors; ++v) {
            push[v] = load<V>(pushed + v * L);
            GN_UNROLL
            for (Index d = 0; d < Dims; ++d) step[d][v] = load<V>(moved + d * pitch + v * L);
        }
    }
    const T* theirs = layer.centers + dim * pitch;
    pushers.template each<Vectors * L>(lane, [&](Index place, const T* weights) GN_INLINED {
        Lanes weight[Vectors];
        GN_UNROLL
        for (Index v = 0; v < Vectors; ++v) {
            weight[v] = load<V>(weights + v * L);
            push[v] += weight[v];
        }
        const T* their = theirs + place;
        GN_UNROLL
        for (Index d = 0; d < Dims; ++d, their += pitch)
            GN_UNROLL
            for (Index v = 0; v < Vectors; ++v) step[d][v] += weight[v] * *their;
    });
    GN_UNROLL
    for (Index v = 0; v < Vectors; ++v) {
        Lanes pull;
        if constexpr (Whole)
            pull = load<V>(layer.pull + lane + v * L);
        else if (dim == 0)
            store<V>(pushed + v * L, push[v]);
        GN_UNROLL
        for (Index d = 0; d < Dims; ++d) {
            if constexpr (Whole) {
                auto center = load<V>(layer.centers + mine + d * pitch + v * L);
                step[d][v] = stepped(center, pull, x[dim + d], step[d][v], push[v]);
            }
            store<V>(moved + d * pitch + v * L, step[d][v]);
        }
    }
}

// Call move_tile with the number of dimensions as a compile-time constant.
template <bool Whole, class V, Index Vectors, Index Dims, class S, class From>
GN_INLINE void move_dims(const Layer<S>& layer, const From& pushers, Index dims, Index dim, Index lane,
                         const typename S::number* x) {
    if constexpr (Dims > 0) {
        if (dims == Dims)
            move_tile<Whole, V, Dims, Vectors>(layer, pushers, dim, lane, x);
        else
            move_dims<Whole, V, Vectors, Dims - 1>(layer, pushers, dims, dim, lane, x);
    }
}

template <bool Whole, class V, Index Vectors, class S, class From>
GN_INLINE void move_lanes(const Layer<S>& layer, const From& pushers, Index lane, const typename S::number* x) {
    constexpr Index most = tile_steps / Vectors;
    Index tiles = (layer.D + most - 1) / most;
    for (Index t = 0; t < tiles; ++t) {  // tiles of nearly equal size: one of a single dimension would be slow
        Index dim = t * layer.D / tiles, end = (t + 1) * layer.D / tiles;
        move_dims<Whole, V, Vectors, most>(layer, pushers, end - dim, dim, lane, x);
    }
}

template <bool Whole, class S>
GN_INLINE void move_all(const Layer<S>& layer, const Pushers<S>& pushers, Index lane, Index end,
                        const typename S::number* x) {
    using N = Narrow<S>;
    constexpr Index L = S::lanes;
    for (; lane + 2 * L <= end; lane += 2 * L) move_lanes<Whole, S, 2>(layer, pushers, lane, x);
    for (; lane + L <= end; lane += L) move_lanes<Whole, S, 1>(layer, pushers, lane, x);
    for (; lane < end; lane += N::lanes) move_lanes<Whole, N, 1>(layer, pushers, lane, x);
}

// Equation 1 if all pairs fit into one block.
template <bool Measured, class S, class Weigh>
void learn_block(Layer<S>& layer, Rule rule, const Weigh& weigh, const typename S::number* x) {
    Block<S> here{layer.weights};
    weigh_block<Measured>(layer, weigh, Blocks<S>{0, 0, here, here}, x);
    Pushers<S> pushers{layer, here, 0, 0, layer.K};
    const Index end = computed_lanes(layer, layer.K - 1);
    for_lanes<S>(0, end, [&](auto v, Index lane) {
        using V = decltype(v);
        store<V>(layer.pull + lane, pull_of<V>(layer, rule, lane));
    });
    move_all<true>(layer, pushers, 0, end, x);
    layer.step();
}

// Equation 1 in blocks, ordered so that every sum over j is in the order of j.
template <bool Measured, class S, class Weigh>
void learn_blocks(Layer<S>& layer, Rule rule, const Weigh& weigh, const typename S::number* x) {
    using T = typename S::number;
    Block<S> here{layer.weights}, there{layer.weights + block * block};
    for (Index i = 0; i < layer.numbers; ++i) layer.moved[i] = 0;
    for (Index i = 0; i < layer.lanes; ++i) layer.push[i] = 0;
    const Index end = computed_lanes(layer, layer.K - 1);
    auto push = [&](const Block<S>& weights, Index rows_from, Index lanes_from) {
        if (!weights.squares) return;
        Index rows = layer.K - rows_from < block ? layer.K - rows_from : block;
        Index lanes_to = lanes_from + block < end ? lanes_from + block : end;
        Pushers<S> pushers{layer, weights, rows_from, lanes_from, rows};
        move_all<false>(layer, pushers, lanes_from, lanes_to, x);
    };
    for (Index b = 0; b < layer.K; b += block)
        for (Index a = 0; a <= b; a += block) {
            weigh_block<Measured>(layer, weigh, Blocks<S>{b, a, here, a == b ? here : there}, x);
            push(here, b, a);
            if (a < b) push(there, a, b);
        }
    for_lanes<S>(0, end, [&](auto v, Index lane) {
        using V = decltype(v);
        auto pull = pull_of<V>(layer, rule, lane), push = load<V>(layer.push + lane);
        T *center = layer.centers + layer.place(lane), *moved = layer.moved + layer.place(lane);
        for (Index d = 0; d < layer.D; ++d, center += layer.pitch, moved += layer.pitch)
            store<V>(moved, stepped(load<V>(center), pull, x[d], load<V>(moved), push));
    });
    layer.step();
}

template <bool Measured, class S, class Weigh>
GN_INLINE void learn_centers(Layer<S>& layer, Rule rule, const Weigh& weigh, const typename S::number* x) {
    if (layer.K <= block)
        learn_block<Measured>(layer, rule, weigh, x);
    else
        learn_blocks<Measured>(layer, rule, weigh, x);
}

// Equation 1 without repulsion, mu_i += eta f_i(x) / sigma_i (x - mu_i), for a sample that was measured. If
// `Next`, the next sample is measured in the same pass.
template <bool Next, class S>
void attract(const Layer<S>& layer, Rule rule, const typename S::number* x, const typename S::number* next) {
    using V = typename S::vector;
    for (Index lane = 0; lane < layer.lanes; lane += S::lanes) {
        V pull = pull_of<S>(layer, rule, lane), sum[4] = {};
        auto* center = layer.centers + layer.place(lane);
        for_dimensions(layer.D, [&](Index d, Index part) GN_INLINED {
            V at = load<S>(center + d * layer.pitch);
            at += pull * (x[d] - at);
            store<S>(center + d * layer.pitch, at);
            if constexpr (Next) {
                V difference = at - next[d];
                sum[part] += difference * difference;
            }
        });
        if constexpr (Next) store<S>(layer.distance + lane, (sum[0] + sum[1]) + (sum[2] + sum[3]));
    }
}

// Equation 2: sigma_i += eta_sigma max{f_x(mu_i) - 2 lambda sum_j f_j(mu_i), 0} f_i(mu_x) (sigma_x - sigma_i)
template <class S>
void adapt(Layer<S>& layer, Rule rule, typename S::number sample_width) {
    using T = typename S::number;
    using V = typename S::vector;
    if (sample_width == 0) return;  // f_x is 0 everywhere except at the sample
    for (Index lane = 0; lane < layer.lanes; lane += S::lanes) {
        V others = {}, equal = {};  // neurons at the same place are summed apart: their order has no effect
        for (Index j = 0; j < layer.K; ++j) {
            V response = exp_of_negative<S>(-load<S>(layer.pairs + j * layer.rows + lane) *
                                            layer.inverse[j]);
            others += response < 1 ? response : V{};
            equal += response < 1 ? V{} : response;
        }
        others += equal;
        V distance = -load<S>(layer.distance + lane), width = load<S>(layer.widths + lane);
        V match = exp_of_negative<S>(distance / sample_width) - T(2 * rule.inhibition) * others;
        V response = exp_of_negative<S>(distance / width);
        V gain = T(rule.width_learning_rate) * larger<S>(match, V{}) * response;
        store<S>(layer.widths + lane, width + gain * (sample_width - width));
    }
    layer.invert();
}

}  // namespace gaussian_neurons::GN_ISA
