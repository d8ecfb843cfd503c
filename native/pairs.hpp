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
#include "layer.hpp"

namespace gaussian_neurons::GN_ISA {

constexpr double far = 50;
constexpr double far_power = -far * log2_e;

// Call f on the lanes [begin, end), whole groups of them, in the widest vectors that fit.
template <class S, class F>
GN_INLINE void for_lanes(long begin, long end, F f) {
    using N = Narrow<S>;
    for (; begin + S::lanes <= end; begin += S::lanes) f(S{}, begin);
    for (; begin < end; begin += N::lanes) f(N{}, begin);
}

// The end of the lanes that row j computes itself: those of its own group and the groups before.
template <class S>
GN_INLINE long computed_lanes(const Layer<S>& layer, long j) {
    long end = (j / group + 1) * group;
    return end < layer.lanes ? end : layer.lanes;
}

// Store the first lanes of `group` rows the other way round.
template <class V>
GN_INLINE void store_transposed(typename V::number* to, long stride, const typename V::vector (&rows)[group],
                                long lanes) {
    using N = Narrow<V>;
    constexpr long L = N::lanes;
    GN_UNROLL
    for (long lane = 0; lane < V::lanes; lane += L) {
        if (lane >= lanes) return;
        GN_UNROLL
        for (long row = 0; row < group; row += L) {
            typename N::vector square[L];
            GN_UNROLL
            for (long r = 0; r < L; ++r) square[r] = narrow<V>(rows[row + r], lane);
            transpose<N>(square);
            GN_UNROLL
            for (long r = 0; r < L; ++r) store<N>(to + (lane + r) * stride + row, square[r]);
        }
    }
}

// ---- |mu_i - mu_j|^2 and |mu_i - x|^2 -------------------------------------------------------------

// R neurons j that follow each other, within a group.
template <long R>
struct Consecutive {
    long first;
    GN_INLINE long operator[](long r) const { return first + r; }

    template <class S>
    GN_INLINE long place(const Layer<S>& layer, long r) const {
        return layer.place(first) + r;
    }
    // Where the sum of squares begins: zeros, but `huge` where a neuron meets itself.
    template <class S>
    GN_INLINE const typename S::number* start(const Layer<S>& layer, long lane, long r) const {
        long after = first - lane;  // beyond the table's diagonal on either side there are zeros
        after = after < -group ? -group : after < 2 * group ? after : 2 * group;
        return layer.diagonal + (group + after + r) * S::lanes;
    }
};

// R neurons j of a list.
template <long R>
struct Listed {
    const int32_t* list;
    GN_INLINE long operator[](long r) const { return list[r]; }

    template <class S>
    GN_INLINE long place(const Layer<S>& layer, long r) const {
        return layer.place(list[r]);
    }
    template <class S>
    GN_INLINE const typename S::number* start(const Layer<S>& layer, long lane, long r) const {
        unsigned long after = (unsigned long)(list[r] - lane);
        return layer.diagonal + (after < (unsigned long)S::lanes ? group + after : 0) * S::lanes;
    }
};

// Neurons j, and the sample where it is wanted, against the neurons i of one vector V. What becomes of the
// vectors of distances is up to `use`.
template <class V, bool Sample, long R, template <long> class Rows, class S, class Use>
GN_INLINE void measure_tile(const Layer<S>& layer, const Rows<R>& rows, long lane, const typename S::number* x,
                            Use use) {
    using T = typename S::number;
    const long D = layer.D, pitch = layer.pitch;
    typename V::vector sum[R], to_sample = {};
    const T* theirs[R];
    GN_UNROLL
    for (long r = 0; r < R; ++r) {
        sum[r] = load<V>(rows.start(layer, lane, r));
        theirs[r] = layer.centers + rows.place(layer, r);
    }
    const T* mine = layer.centers + layer.place(lane);
    for (long d = 0, at = 0; d < D; ++d, at += pitch) {
        auto center = load<V>(mine + at);
        if constexpr (Sample) {
            auto difference = center - x[d];
            to_sample += difference * difference;
        }
        GN_UNROLL
        for (long r = 0; r < R; ++r) {
            auto difference = center - theirs[r][at];
            sum[r] += difference * difference;
        }
    }
    if constexpr (Sample) store<V>(layer.distance + lane, to_sample);
    use(sum);
}

// The same, of pairs that were measured before.
template <class V, long R, class S, class Use>
GN_INLINE void measured_tile(const Layer<S>& layer, const Consecutive<R>& rows, long lane, Use use) {
    typename V::vector sum[R];
    GN_UNROLL
    for (long r = 0; r < R; ++r) sum[r] = load<V>(layer.pairs + rows[r] * layer.rows + lane);
    use(sum);
}

// Call f with the number of rows from `row` on, at most `group`, as a constant.
template <long R = group, class F>
GN_INLINE void with_rows(long rows, F f) {
    if constexpr (R > 0) {
        if (rows >= R)
            f(std::integral_constant<long, R>{});
        else
            with_rows<R - 1>(rows, f);
    }
}

template <class V, long R>
GN_INLINE void store_rows(typename V::number* to, long stride, const typename V::vector (&rows)[R]) {
    GN_UNROLL
    for (long r = 0; r < R; ++r) store<V>(to + r * stride, rows[r]);
}

template <class V, long R>
GN_INLINE void copy_rows(typename V::vector (&to)[group], const typename V::vector (&rows)[R]) {
    GN_UNROLL
    for (long r = 0; r < R; ++r) to[r] = rows[r];
}

template <class V, bool Sample, long R, class S>
GN_APART void measure_pairs(const Layer<S>& layer, long row, long lane, const typename S::number* x) {
    const long stride = layer.rows;
    measure_tile<V, Sample>(layer, Consecutive<R>{row}, lane, x, [&](const auto& sum) GN_INLINED {
        typename V::vector all[group] = {};
        copy_rows<V>(all, sum);
        store_rows<V>(layer.pairs + row * stride + lane, stride, sum);
        store_transposed<V>(layer.pairs + lane * stride + row, stride, all, row - lane);
    });
}

// All pairs, into layer.pairs; and the sample, if there is one, with the last group, whose rows meet every lane.
template <class S>
void measure(const Layer<S>& layer, const typename S::number* x) {
    for (long row = 0; row < layer.K; row += group)
        with_rows(layer.K - row, [&](auto R) {
            for_lanes<S>(0, computed_lanes(layer, row), [&](auto v, long lane) {
                if (x && row + group >= layer.K)
                    measure_pairs<decltype(v), true, R()>(layer, row, lane, x);
                else
                    measure_pairs<decltype(v), false, R()>(layer, row, lane, x);
            });
        });
}

// Call f on each dimension, and with which of four sums it belongs to, that need not wait for each other.
template <class F>
GN_INLINE void for_dimensions(long D, F f) {
    long d = 0;
    for (; d + 4 <= D; d += 4) {
        GN_UNROLL
        for (long k = 0; k < 4; ++k) f(d + k, k);
    }
    for (; d < D; ++d) f(d, 0);
}

// |mu_i - x|^2 alone.
template <class S>
void measure_sample(const Layer<S>& layer, const typename S::number* x) {
    for (long lane = 0; lane < layer.lanes; lane += S::lanes) {
        const auto* center = layer.centers + layer.place(lane);
        typename S::vector sum[4] = {};
        for_dimensions(layer.D, [&](long d, long part) GN_INLINED {
            auto difference = load<S>(center + d * layer.pitch) - x[d];
            sum[part] += difference * difference;
        });
        store<S>(layer.distance + lane, (sum[0] + sum[1]) + (sum[2] + sum[3]));
    }
}

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
    GN_INLINE typename V::vector weight(typename V::vector pair, long, long) const {
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
    GN_INLINE typename V::vector weight(typename V::vector pair, long row, long lane) const {
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

    static uint64_t bit(long row, long lane) { return uint64_t(1) << (row / group * group + lane / group); }

    GN_INLINE void mark(long row, long lane, long lanes, bool any) {
        for (long k = 0; k < lanes; k += group) squares |= any ? bit(row, lane + k) : 0;
    }

    // Whether any of these rows of a group push any of these lanes. Within the block, both.
    template <long Lanes>
    GN_INLINE bool any(long row, long lane) const {
        constexpr long wide = (Lanes + group - 1) / group;
        return squares >> (row + lane / group) & ((1 << wide) - 1);
    }
};

// Some neurons of a tile are about to fall together, or have: keep what these pairs add to each other's steps,
// and take their weights out.
template <class V, long R, template <long> class Rows, class S>
GN_APART void nudge(const Layer<S>& layer, typename V::vector (&weights)[group],
                                     const Rows<R>& rows, long lane, const typename V::vector (&pairs)[R]) {
    for (long r = 0; r < R; ++r)
        for (long k = 0; k < V::lanes; ++k) {
            if (!(pairs[r][k] < layer.near)) continue;
            auto weight = weights[r][k];
            weights[r][k] = 0;
            if (pairs[r][k] == 0 || lane + k >= rows[r]) continue;  // or padding, or the same pair once more
            long mine = layer.place(lane + k), theirs = layer.place(rows[r]);
            for (long d = 0; d < layer.D; ++d, mine += layer.pitch, theirs += layer.pitch) {
                auto step = weight * (layer.centers[theirs] - layer.centers[mine]);
                layer.nudges[mine] += step;
                layer.nudges[theirs] -= step;
            }
            layer.nudged = true;
        }
}

// The weights of a tile of R rows at one vector of lanes, zeros in the others; whether there are any.
template <class V, long R, template <long> class Rows, class S, class Weigh>
GN_INLINE bool weigh_tile(const Layer<S>& layer, const Weigh& weigh, const Rows<R>& rows, long lane,
                          const typename V::vector (&pairs)[R], typename V::vector (&weights)[group]) {
    auto nearest = pairs[0];
    GN_UNROLL
    for (long r = 1; r < R; ++r) nearest = smaller<V>(nearest, pairs[r]);
    if (all_below<V>(nearest * layer.least_exponent, typename S::number(far_power))) {
        GN_UNROLL
        for (long r = 0; r < group; ++r) weights[r] = typename V::vector{};
        return false;
    }
    GN_UNROLL
    for (long r = 0; r < R; ++r) weights[r] = weigh.template weight<V>(pairs[r], rows[r], lane);
    GN_UNROLL
    for (long r = R; r < group; ++r) weights[r] = typename V::vector{};
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
    long b, a;
    Block<S>&here, &there;
};

// How the squares of distances of a tile come about: measured, with or without the sample's; or before.
enum class Source { measured, with_sample, before };

// The weights of R rows at one vector of lanes, and mirrored.
template <class V, Source From, long R, class S, class Weigh>
GN_APART void weigh_at(const Layer<S>& layer, const Weigh weigh, const Blocks<S> blocks, long row, long lane,
                       const typename S::number* x) {
    const Consecutive<R> rows{row};
    auto use = [&](const auto& pairs) GN_INLINED {
        const long r = row - blocks.b, l = lane - blocks.a;
        typename V::vector weights[group];
        bool any = weigh_tile<V>(layer, weigh, rows, lane, pairs, weights);
        store_rows<V>(blocks.here.weights + r * block + l, block, weights);
        blocks.here.mark(r, l, V::lanes, any);
        if (lane >= row) return;
        store_transposed<V>(blocks.there.weights + l * block + r, block, weights, row - lane);
        for (long k = 0; k < V::lanes && lane + k < row; k += group)
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
    const long b = blocks.b, a = blocks.a;
    blocks.here.squares = blocks.there.squares = 0;
    for (long row = b; row < layer.K && row < b + block; row += group) {
        long end = a == b ? computed_lanes(layer, row) : a + block;
        with_rows(layer.K - row, [&](auto R) {
            for_lanes<S>(a, end, [&](auto v, long lane) {
                if (row + group >= layer.K)
                    weigh_at<decltype(v), last, R()>(layer, weigh, blocks, row, lane, x);
                else
                    weigh_at<decltype(v), usual, R()>(layer, weigh, blocks, row, lane, x);
            });
        });
    }
}

}  // namespace gaussian_neurons::GN_ISA
