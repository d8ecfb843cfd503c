// The weights of pairs, w_ij = -eta lambda (f_i(mu_j) / sigma_i + f_j(mu_i) / sigma_j), for Equation 1:
//
//     mu_i += eta f_i(x) / sigma_i (x - mu_i) + sum_j w_ij (mu_j - mu_i)
//
// The sum is computed as a matrix product, sum_j w_ij mu_j - mu_i sum_j w_ij (steps.hpp). The cancellation
// error is about the rounding error of mu_i sum_j w_ij. This is small, since w_ij contains the learning rate,
// unless very many neurons overlap far from the origin.
//
// Weights are computed in blocks of pairs, so that they stay in the L1 cache for any number of neurons. Weights
// are symmetric: those above the diagonal are mirror images. Sums over j are always in the order of j.
//
// Two neurons with the same center and width stay equal to the last bit, as in the reference: the formula for
// w_ij gives the same bits for w_ji, and a pair with distance 0 has weight 0, which would move neither neuron.
// Neurons that differ, however little, must not become equal through rounding: in exact arithmetic they
// separate again. The two terms of a pair are at different positions of the two sums, so their rounding errors
// differ and keep the neurons apart.
//
// A pair with responses below exp(-far) has weight 0: 2e-22, or 9e-14 in float32, two millionths of
// the precision of numbers as large as the square root of a width. Tiles with no other pairs are skipped.
#pragma once

#include "kernels.hpp"
#include "measuring.hpp"

namespace gaussian_neurons::GN_ISA {

template <class S>
constexpr double far = sizeof(typename S::number) == 4 ? 30 : 50;
template <class S>
constexpr typename S::number far_power = -far<S> * log2_e;

inline double repulsion(Rule rule) {
    return rule.inhibition * rule.learning_rate * double(rule.repulsion_every);
}

// Weights if all neurons have the same width.
template <class S>
struct EqualWidths {
    using T = typename S::number;
    T exponent, scale;

    EqualWidths(const Layer<S>& layer, Rule rule)
        : exponent(layer.exponent[0]), scale(T(-2 * repulsion(rule)) * layer.inverse[0]) {}

    template <class V>
    GN_INLINE typename V::vector weight(typename V::vector pair, Index, Index) const {
        return scale * power_of_two<V>(pair * exponent, far_power<S>);
    }
};

// Weights if each neuron has its own width.
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
        auto sum = larger<V>(mine, theirs) * power_of_two<V>(pair * smaller<V>(my, their), far_power<S>) +
                   smaller<V>(mine, theirs) * power_of_two<V>(pair * larger<V>(my, their), far_power<S>);
        return scale * sum;
    }
};

// The weights of a block of pairs, rows j and lanes i, and a bit for each square with any weight that is not 0.
template <class S>
struct Block {
    using T = typename S::number;
    T* weights;  // (block, block)
    uint64_t squares = 0;

    static uint64_t bit(Index row, Index lane) { return uint64_t(1) << (row / group * group + lane / group); }

    GN_INLINE void mark(Index row, Index lane, Index lanes, bool any) {
        for (Index k = 0; k < lanes; k += group) squares |= any ? bit(row, lane + k) : 0;
    }

    // Whether a group of rows has any weight for these lanes. Both are counted from the start of the block.
    template <Index Lanes>
    GN_INLINE bool any(Index row, Index lane) const {
        constexpr Index wide = (Lanes + group - 1) / group;
        return squares >> (row + lane / group) & ((1 << wide) - 1);
    }
};

// The weights of a tile, 0 in the rows from R on. Returns whether any pair is near enough to have a weight.
template <class V, Index R, template <Index> class Rows, class S, class Weigh>
GN_INLINE bool weigh_tile(const Layer<S>& layer, const Weigh& weigh, const Rows<R>& rows, Index lane,
                          const typename V::vector (&pairs)[R], typename V::vector (&weights)[group]) {
    auto nearest = pairs[0];
    GN_UNROLL
    for (Index r = 1; r < R; ++r) nearest = smaller<V>(nearest, pairs[r]);
    if (all_below<V>(nearest * layer.least_exponent, far_power<S>)) {
        GN_UNROLL
        for (Index r = 0; r < group; ++r) weights[r] = typename V::vector{};
        return false;
    }
    GN_UNROLL
    for (Index r = 0; r < R; ++r) weights[r] = weigh.template weight<V>(pairs[r], rows[r], lane);
    GN_UNROLL
    for (Index r = R; r < group; ++r) weights[r] = typename V::vector{};
    if (!all_below<V>(-nearest, typename S::number(0))) [[unlikely]] {
        GN_UNROLL
        for (Index r = 0; r < R; ++r) weights[r] = pairs[r] > 0 ? weights[r] : typename V::vector{};
    }
    return true;
}

// The block of weights with rows from b on and lanes from a on, and its mirror image. On the diagonal both are
// the same block.
template <class S>
struct Blocks {
    Index b, a;
    Block<S>&here, &there;
};

// Where the distances of a tile come from: measured now, measured now with the sample, or measured before.
enum class Source { measured, with_sample, before };

// The weights of R rows and one vector of lanes, and their mirror image.
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

// All weights of a block, a <= b. The last rows also measure the sample.
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
                    weigh_at<decltype(v), usual, group>(layer, weigh, blocks, row, lane, x);
            });
        });
    }
}

}  // namespace gaussian_neurons::GN_ISA
