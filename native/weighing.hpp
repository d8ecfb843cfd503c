// The passes over a layer that one sample costs, once for every lane width and precision:
//
//     measure   |mu_i - mu_j|^2 and |mu_i - x|^2
//     weigh     w_ij = -eta lambda (f_i(mu_j) / sigma_i + f_j(mu_i) / sigma_j), symmetric
//     move      mu_i += eta f_i(x) / sigma_i (x - mu_i) + sum_j w_ij (mu_j - mu_i)   (Equation 1)
//
// and where widths are learned, `adapt` (Equation 2). `move` is a matrix product, sum_j w_ij mu_j less
// mu_i sum_j w_ij: what that loses to cancellation is about the rounding of mu_i times sum_j w_ij, which
// contains the learning rate and is small unless very many neurons overlap far from the origin.
//
// Pairs are taken in blocks of neurons, so that their weights stay in the nearest cache however many
// neurons there are. In a block, and of all blocks, those on and below the diagonal are measured and weighed;
// the others are mirrored. Every sum over j goes on in the order of j, whatever the blocks are.
//
// Two neurons at the same place stay together, as they do in the reference: every number of the one is
// computed from the same numbers in the same order as that of the other. So a pair without distance, as
// every neuron makes with itself, has no weight: it would move neither. Nor has one that is about to fall
// together, in the matrix product: the two would take part in each other's sums at different places, and the
// rounding of all other terms would keep them apart. They push each other afterwards (`nudge`). And what is
// made of two widths does not depend on which of the two comes first.
//
// Nor has a pair any weight whose responses are below exp(-far): 2e-22, which is beyond the precision of
// numbers as large as a width's square root. Where that holds for a whole tile, it takes no part in what follows.
#pragma once

#include "kernels.hpp"
#include "measuring.hpp"

namespace gaussian_neurons::GN_ISA {

constexpr double far = 50;
constexpr double far_power = -far * log2_e;

// ---- w_ij and f_i(x) ------------------------------------------------------------------------------

inline double repulsion(Rule rule) {
    return rule.inhibition * rule.learning_rate * double(rule.repulsion_every);
}

// The weights of pairs where all neurons have one width.
template <class S>
struct EqualWidths {
    using T = typename S::number;
    T exponent, scale;

    EqualWidths(const Layer<S>& layer, Rule rule)
        : exponent(layer.exponent[0]), scale(T(-2 * repulsion(rule)) * layer.inverse[0]) {}

    template <class V>
    GN_INLINE typename V::vector weight(typename V::vector pair, Index, Index) const {
        return scale * power_of_two<V>(pair * exponent, T(far_power));
    }
};

// The weights of pairs where each neuron has its own.
template <class S>
struct OwnWidths {
    using T = typename S::number;
    const Layer<S>& layer;
    T scale;

    OwnWidths(const Layer<S>& layer, Rule rule) : layer(layer), scale(T(-repulsion(rule))) {}

    template <class V>
    GN_INLINE typename V::vector weight(typename V::vector pair, Index row, Index lane) const {
        auto mine = load<V>(layer.inverse + lane), theirs = splat<V>(layer.inverse[row]);
        auto my = load<V>(layer.exponent + lane), their = splat<V>(layer.exponent[row]);
        auto sum = larger<V>(mine, theirs) * power_of_two<V>(pair * smaller<V>(my, their), T(far_power)) +
                   smaller<V>(mine, theirs) * power_of_two<V>(pair * larger<V>(my, their), T(far_power));
        return scale * sum;
    }
};

// The weights of a block of pairs, rows j and lanes i, and a bit for each of its squares that holds any.
template <class S>
struct Block {
    using T = typename S::number;
    T* weights;  // (block, block)
    uint64_t squares = 0;

    static uint64_t bit(Index row, Index lane) { return uint64_t(1) << (row / group * group + lane / group); }

    GN_INLINE void mark(Index row, Index lane, Index lanes, bool any) {
        for (Index k = 0; k < lanes; k += group) squares |= any ? bit(row, lane + k) : 0;
    }

    // Whether any of these rows of a group push any of these lanes. Within the block, both.
    template <Index Lanes>
    GN_INLINE bool any(Index row, Index lane) const {
        constexpr Index wide = (Lanes + group - 1) / group;
        return squares >> (row + lane / group) & ((1 << wide) - 1);
    }
};

// Some neurons of a tile are about to fall together, or have: keep what these pairs add to each other's steps,
// and take their weights out.
template <class V, Index R, template <Index> class Rows, class S>
GN_APART void nudge(const Layer<S>& layer, typename V::vector (&weights)[group],
                                     const Rows<R>& rows, Index lane, const typename V::vector (&pairs)[R]) {
    for (Index r = 0; r < R; ++r)
        for (Index k = 0; k < V::lanes; ++k) {
            if (!(pairs[r][k] < layer.near)) continue;
            auto weight = weights[r][k];
            weights[r][k] = 0;
            if (pairs[r][k] == 0 || lane + k >= rows[r]) continue;  // or padding, or the same pair once more
            Index mine = layer.place(lane + k), theirs = layer.place(rows[r]);
            for (Index d = 0; d < layer.D; ++d, mine += layer.pitch, theirs += layer.pitch) {
                auto step = weight * (layer.centers[theirs] - layer.centers[mine]);
                layer.nudges[mine] += step;
                layer.nudges[theirs] -= step;
            }
            layer.nudged = true;
        }
}

// The weights of a tile of R rows at one vector of lanes, zeros in the others; whether there are any.
template <class V, Index R, template <Index> class Rows, class S, class Weigh>
GN_INLINE bool weigh_tile(const Layer<S>& layer, const Weigh& weigh, const Rows<R>& rows, Index lane,
                          const typename V::vector (&pairs)[R], typename V::vector (&weights)[group]) {
    auto nearest = pairs[0];
    GN_UNROLL
    for (Index r = 1; r < R; ++r) nearest = smaller<V>(nearest, pairs[r]);
    if (all_below<V>(nearest * layer.least_exponent, typename S::number(far_power))) {
        GN_UNROLL
        for (Index r = 0; r < group; ++r) weights[r] = typename V::vector{};
        return false;
    }
    GN_UNROLL
    for (Index r = 0; r < R; ++r) weights[r] = weigh.template weight<V>(pairs[r], rows[r], lane);
    GN_UNROLL
    for (Index r = R; r < group; ++r) weights[r] = typename V::vector{};
    if (!all_below<V>(-nearest, -layer.near)) {
        typename V::vector changed[group];  // by way of memory, which the others need not take
        copy_rows<V>(changed, weights);
        nudge<V>(layer, changed, rows, lane, pairs);
        copy_rows<V>(weights, changed);
    }
    return true;
}

// A block of weights, and its mirrored one, which is the same on the diagonal. Rows from b on, lanes from a on.
template <class S>
struct Blocks {
    Index b, a;
    Block<S>&here, &there;
};

// How the squares of distances of a tile come about: measured, with or without the sample's; or before.
enum class Source { measured, with_sample, before };

// The weights of R rows at one vector of lanes, and mirrored.
template <class V, Source From, Index R, class S, class Weigh>
GN_APART void weigh_at(const Layer<S>& layer, const Weigh weigh, const Blocks<S> blocks, Index row, Index lane,
                       const typename S::number* x) {
    const Consecutive<R> rows{row};
    auto use = [&](const auto& pairs) GN_INLINED {
        const Index r = row - blocks.b, l = lane - blocks.a;
        typename V::vector weights[group];
        bool any = weigh_tile<V>(layer, weigh, rows, lane, pairs, weights);
        store_rows<V>(blocks.here.weights + r * block + l, block, weights);
        blocks.here.mark(r, l, V::lanes, any);
        if (lane >= row) return;
        store_transposed<V>(blocks.there.weights + l * block + r, block, weights, row - lane);
        for (Index k = 0; k < V::lanes && lane + k < row; k += group)
            blocks.there.mark(l + k, r, group, any);
    };
    if constexpr (From == Source::before)
        measured_tile<V>(layer, rows, lane, use);
    else
        measure_tile<V, From == Source::with_sample>(layer, rows, lane, x, use);
}

// The weights of the neurons j from b on to the neurons i from a on, a <= b, and, in the last rows, the
// distances of the sample.
template <bool Measured, class S, class Weigh>
void weigh_block(const Layer<S>& layer, const Weigh& weigh, const Blocks<S>& blocks, const typename S::number* x) {
    constexpr Source usual = Measured ? Source::before : Source::measured;
    constexpr Source last = Measured ? Source::before : Source::with_sample;
    const Index b = blocks.b, a = blocks.a;
    blocks.here.squares = blocks.there.squares = 0;
    for (Index row = b; row < layer.K && row < b + block; row += group) {
        Index end = a == b ? computed_lanes(layer, row) : a + block;
        with_rows(layer.K - row, [&](auto R) {
            for_lanes<S>(a, end, [&](auto v, Index lane) {
                if (row + group >= layer.K)
                    weigh_at<decltype(v), last, R()>(layer, weigh, blocks, row, lane, x);
                else
                    weigh_at<decltype(v), usual, R()>(layer, weigh, blocks, row, lane, x);
            });
        });
    }
}

}  // namespace gaussian_neurons::GN_ISA
