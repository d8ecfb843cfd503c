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
// every number that it could change. Where that holds for a whole tile, it takes no part in what follows.
#pragma once

#include "kernels.hpp"
#include "layer.hpp"

namespace gaussian_neurons::GN_ISA {

constexpr long tile_steps = GN_VECTOR_REGISTERS / 2;  // dimensions times vectors in a tile of steps
constexpr int far = 50;

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

// Write a square of `group` rows and lanes the other way round.
template <class S>
GN_INLINE void transpose_square(const typename S::number* from, long from_stride, typename S::number* to,
                                long to_stride) {
    using N = Narrow<S>;
    constexpr long L = N::lanes;
    for (long row = 0; row < group; row += L)
        for (long lane = 0; lane < group; lane += L) {
            typename N::vector square[L];
            GN_UNROLL
            for (long r = 0; r < L; ++r) square[r] = load<N>(from + (row + r) * from_stride + lane);
            transpose<N>(square);
            GN_UNROLL
            for (long r = 0; r < L; ++r) store<N>(to + (lane + r) * to_stride + row, square[r]);
        }
}

// ---- |mu_i - mu_j|^2 and |mu_i - x|^2 -------------------------------------------------------------

// R neurons j, and the sample where it is wanted, against the neurons i of one vector V. What becomes of the
// R vectors of distances is up to `use`.
template <class V, bool Sample, long R, class S, class Use>
GN_INLINE void measure_tile(const Layer<S>& layer, long row, long lane, const typename S::number* x, Use use) {
    using T = typename S::number;
    const long D = layer.D, pitch = layer.pitch;
    const long before = row - lane < 2 * group ? row - lane : 2 * group;
    const T* start = layer.diagonal + (group + before) * S::lanes;  // the diagonal, or zeros
    typename V::vector sum[R], to_sample = {};
    GN_UNROLL
    for (long r = 0; r < R; ++r) sum[r] = load<V>(start + r * S::lanes);
    const T *mine = layer.centers + layer.place(lane), *theirs = layer.centers + layer.place(row);
    for (long d = 0; d < D; ++d, mine += pitch, theirs += pitch) {
        auto center = load<V>(mine);
        if constexpr (Sample) {
            auto difference = center - x[d];
            to_sample += difference * difference;
        }
        GN_UNROLL
        for (long r = 0; r < R; ++r) {
            auto difference = center - theirs[r];
            sum[r] += difference * difference;
        }
    }
    if constexpr (Sample) store<V>(layer.distance + lane, to_sample);
    use(V{}, sum);
}

// The same, of pairs that were measured before.
template <class V, long R, class S, class Use>
GN_INLINE void measured_tile(const Layer<S>& layer, long row, long lane, Use use) {
    typename V::vector sum[R];
    GN_UNROLL
    for (long r = 0; r < R; ++r) sum[r] = load<V>(layer.pairs + (row + r) * layer.rows + lane);
    use(V{}, sum);
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

// All pairs, into layer.pairs.
template <class S>
void measure(const Layer<S>& layer) {
    const long stride = layer.rows;
    for (long row = 0; row < layer.K; row += group) {
        with_rows(layer.K - row, [&](auto R) {
            for_lanes<S>(0, computed_lanes(layer, row), [&](auto v, long lane) {
                using Vector = decltype(v);
                measure_tile<Vector, false, R()>(layer, row, lane, nullptr, [&](auto, const auto& sum) {
                    store_rows<Vector, R()>(layer.pairs + row * stride + lane, stride, sum);
                });
            });
        });
        for (long lane = 0; lane < row; lane += group)
            transpose_square<S>(layer.pairs + row * stride + lane, stride, layer.pairs + lane * stride + row,
                                stride);
    }
}

// |mu_i - x|^2 alone.
template <class S>
void measure_sample(const Layer<S>& layer, const typename S::number* x) {
    using V = typename S::vector;
    for (long lane = 0; lane < layer.lanes; lane += S::lanes) {
        V sum[4] = {};
        const auto* center = layer.centers + layer.place(lane);
        auto add = [&](long d, V& to) {
            V difference = load<S>(center + d * layer.pitch) - x[d];
            to += difference * difference;
        };
        long d = 0;
        for (; d + 4 <= layer.D; d += 4)
            for (long k = 0; k < 4; ++k) add(d + k, sum[k]);
        for (; d < layer.D; ++d) add(d, sum[0]);
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
    T inverse, scale;

    EqualWidths(const Layer<S>& layer, Rule rule)
        : inverse(layer.inverse[0]), scale(T(-2 * repulsion(rule)) * inverse) {}

    template <class V>
    GN_INLINE typename V::vector weight(typename V::vector pair, long, long) const {
        return scale * exp_of_negative<V>(-inverse * pair, T(-far));
    }
};

// The weights of pairs where each neuron has its own.
template <class S>
struct OwnWidths {
    using T = typename S::number;
    const T* inverse;
    T scale;

    OwnWidths(const Layer<S>& layer, Rule rule) : inverse(layer.inverse), scale(T(-repulsion(rule))) {}

    template <class V>
    GN_INLINE typename V::vector weight(typename V::vector pair, long row, long lane) const {
        auto mine = load<V>(inverse + lane), theirs = splat<V>(inverse[row]);
        auto most = larger<V>(mine, theirs), least = smaller<V>(mine, theirs);
        auto sum = most * exp_of_negative<V>(-pair * most, T(-far)) +
                   least * exp_of_negative<V>(-pair * least, T(-far));
        return scale * sum;
    }
};

// The weights of a block of pairs, rows j and lanes i, and a bit for each of its squares that holds any.
template <class S>
struct Block {
    using T = typename S::number;
    T* weights;  // (block, block)
    uint64_t squares = 0;

    static uint64_t bit(long row, long lane) { return uint64_t(1) << (row + lane / group); }

    // Whether any of these rows of a group push any of these lanes. Within the block, both.
    template <long Lanes>
    GN_INLINE bool any(long row, long lane) const {
        constexpr long wide = (Lanes + group - 1) / group;
        return squares >> (row + lane / group) & ((1 << wide) - 1);
    }
};

// In a tile some neurons are about to fall together, or have: take these pairs' weights out, and keep what they
// add to each other's steps.
template <class V, long R, class S>
__attribute__((noinline)) void nudge(const Layer<S>& layer, typename S::number* weights, long row, long lane,
                                     const typename V::vector (&pairs)[R]) {
    for (long r = 0; r < R; ++r)
        for (long k = 0; k < V::lanes; ++k) {
            if (!(pairs[r][k] < layer.near)) continue;
            auto weight = weights[r * block + k];
            weights[r * block + k] = 0;
            if (pairs[r][k] == 0 || lane + k >= row + r) continue;  // or padding, or the same pair once more
            long mine = layer.place(lane + k), theirs = layer.place(row + r);
            for (long d = 0; d < layer.D; ++d, mine += layer.pitch, theirs += layer.pitch) {
                auto step = weight * (layer.centers[theirs] - layer.centers[mine]);
                layer.nudges[mine] += step;
                layer.nudges[theirs] -= step;
            }
            layer.nudged = true;
        }
}

// Weigh a tile of R rows at one vector of lanes.
template <class V, long R, class S, class Weigh>
GN_INLINE void weigh_tile(const Layer<S>& layer, Block<S>& here, const Weigh& weigh, long row, long lane,
                          const typename V::vector (&pairs)[R]) {
    using T = typename S::number;
    using Lanes = typename V::vector;
    T* weights = here.weights + row % block * block + lane % block;
    Lanes nearest = pairs[0];
    GN_UNROLL
    for (long r = 1; r < R; ++r) nearest = smaller<V>(nearest, pairs[r]);
    if (all_below<V>(nearest * -layer.least_inverse, T(-far))) {
        GN_UNROLL
        for (long r = 0; r < group; ++r) store<V>(weights + r * block, Lanes{});
        return;
    }
    GN_UNROLL
    for (long r = 0; r < R; ++r)
        store<V>(weights + r * block, weigh.template weight<V>(pairs[r], row + r, lane));
    GN_UNROLL
    for (long r = R; r < group; ++r) store<V>(weights + r * block, Lanes{});
    for (long k = 0; k < V::lanes; k += group) here.squares |= Block<S>::bit(row % block, lane % block + k);
    if (!all_below<V>(-nearest, -layer.near)) nudge<V>(layer, weights, row, lane, pairs);
}

// The weights of the neurons j from b on to the neurons i from a on, a <= b, and, in the last rows, the
// distances of the sample. `there` gets the mirrored block; it is `here` on the diagonal.
template <bool Measured, class S, class Weigh>
void weigh_block(const Layer<S>& layer, const Weigh& weigh, long b, long a, const typename S::number* x,
                 Block<S>& here, Block<S>& there) {
    here.squares = there.squares = 0;
    for (long row = b; row < layer.K && row < b + block; row += group) {
        long end = a == b ? computed_lanes(layer, row) : a + block;
        with_rows(layer.K - row, [&](auto R) {
            for_lanes<S>(a, end, [&](auto v, long lane) {
                auto use = [&](auto w, const auto& pairs) {
                    weigh_tile<decltype(w), R()>(layer, here, weigh, row, lane, pairs);
                };
                using Vector = decltype(v);
                if constexpr (Measured)
                    measured_tile<Vector, R()>(layer, row, lane, use);
                else if (row + group >= layer.K)
                    measure_tile<Vector, true, R()>(layer, row, lane, x, use);
                else
                    measure_tile<Vector, false, R()>(layer, row, lane, x, use);
            });
        });
        for (long lane = a; lane < (a == b ? row : end); lane += group) {
            typename S::number* to = there.weights + (lane - a) * block + row - b;
            if (here.squares & Block<S>::bit(row - b, lane - a)) there.squares |= Block<S>::bit(lane - a, row - b);
            transpose_square<S>(here.weights + (row - b) * block + lane - a, block, to, block);
        }
    }
}

// What multiplies x - mu_i in the step of neuron i.
template <class V, class S>
GN_INLINE typename V::vector pull_of(const Layer<S>& layer, Rule rule, long lane) {
    auto inverse = load<V>(layer.inverse + lane);
    auto response = exp_of_negative<V>(-load<V>(layer.distance + lane) * inverse);
    return typename S::number(rule.learning_rate) * inverse * response;
}

// ---- Equation 1 -----------------------------------------------------------------------------------

// Rows of weights that lanes are pushed by: neurons first_row + j.
template <class S>
struct Pushers {
    const Block<S>& of;
    long first_row, first_lane, rows;

    template <long Lanes, class F>
    GN_INLINE void each(long lane, F f) const {
        const auto* weights = of.weights + lane - first_lane;
        for (long row = 0; row < rows; row += group) {
            if (!of.template any<Lanes>(row, lane - first_lane)) continue;
            long end = row + group < rows ? row + group : rows;
            for (long j = row; j < end; ++j) f(j, weights + j * block);
        }
    }
};

// What is known of the steps of the neurons in one vector V: four partial sums of their weights.
template <class V>
struct Sums {
    typename V::vector part[4];
    GN_INLINE typename V::vector total() const { return (part[0] + part[1]) + (part[2] + part[3]); }
};

template <class V, class S>
GN_INLINE void sum_weights(const Pushers<S>& pushers, long lane, Sums<V>& sums) {
    pushers.template each<V::lanes>(lane, [&](long j, const typename S::number* weights) {
        sums.part[j & 3] += load<V>(weights);
    });
}

// A center after its step: mu + pull (x - mu) + sum_j w_j mu_j - push mu.
template <class L, class T>
GN_INLINE L stepped(L center, L pull, T x, L sum, L push) {
    return center + (pull * (x - center) + (sum - push * center));
}

// A few dimensions of the neurons in a few vectors V: sum_j w_ij mu_j, added to what layer.moved holds; or,
// where these are all their pushers, the whole step.
template <bool Whole, class V, long Dims, long Vectors, class S>
void move_tile(const Layer<S>& layer, const Pushers<S>& pushers, long dim, long lane,
               const typename S::number* x) {
    using T = typename S::number;
    using Lanes = typename V::vector;
    constexpr long L = V::lanes;
    const long pitch = layer.pitch, mine = layer.place(lane) + dim * pitch;
    Lanes step[Dims][Vectors] = {};
    T* moved = layer.moved + mine;
    if constexpr (!Whole) {
        GN_UNROLL
        for (long d = 0; d < Dims; ++d)
            GN_UNROLL
            for (long v = 0; v < Vectors; ++v) step[d][v] = load<V>(moved + d * pitch + v * L);
    }
    const T* theirs = layer.centers + layer.place(pushers.first_row) + dim * pitch;
    pushers.template each<Vectors * L>(lane, [&](long j, const T* weights) {
        Lanes weight[Vectors];
        GN_UNROLL
        for (long v = 0; v < Vectors; ++v) weight[v] = load<V>(weights + v * L);
        const T* their = theirs + j;
        GN_UNROLL
        for (long d = 0; d < Dims; ++d, their += pitch)
            GN_UNROLL
            for (long v = 0; v < Vectors; ++v) step[d][v] += weight[v] * *their;
    });
    GN_UNROLL
    for (long v = 0; v < Vectors; ++v) {
        Lanes pull, push;
        if constexpr (Whole) {
            pull = load<V>(layer.pull + lane + v * L);
            push = load<V>(layer.push + lane + v * L);
        }
        GN_UNROLL
        for (long d = 0; d < Dims; ++d) {
            if constexpr (Whole)
                step[d][v] = stepped(load<V>(layer.centers + mine + d * pitch + v * L), pull, x[dim + d], step[d][v], push);
            store<V>(moved + d * pitch + v * L, step[d][v]);
        }
    }
}

// The tile of just so many dimensions.
template <bool Whole, class V, long Vectors, long Dims, class S>
GN_INLINE void move_dims(const Layer<S>& layer, const Pushers<S>& pushers, long dims, long dim, long lane,
                         const typename S::number* x) {
    if constexpr (Dims > 0) {
        if (dims == Dims)
            move_tile<Whole, V, Dims, Vectors>(layer, pushers, dim, lane, x);
        else
            move_dims<Whole, V, Vectors, Dims - 1>(layer, pushers, dims, dim, lane, x);
    }
}

template <bool Whole, class V, long Vectors, class S>
GN_INLINE void move_lanes(const Layer<S>& layer, const Pushers<S>& pushers, long lane, const typename S::number* x) {
    constexpr long most = tile_steps / Vectors;
    long tiles = (layer.D + most - 1) / most;
    for (long t = 0; t < tiles; ++t) {  // as even as D allows: a lone last dimension would be slow
        long dim = t * layer.D / tiles, end = (t + 1) * layer.D / tiles;
        move_dims<Whole, V, Vectors, most>(layer, pushers, end - dim, dim, lane, x);
    }
}

template <bool Whole, class S>
GN_INLINE void move_all(const Layer<S>& layer, const Pushers<S>& pushers, long lane, long end,
                        const typename S::number* x) {
    using N = Narrow<S>;
    constexpr long L = S::lanes;
    for (; lane + 2 * L <= end; lane += 2 * L) move_lanes<Whole, S, 2>(layer, pushers, lane, x);
    for (; lane + L <= end; lane += L) move_lanes<Whole, S, 1>(layer, pushers, lane, x);
    for (; lane < end; lane += N::lanes) move_lanes<Whole, N, 1>(layer, pushers, lane, x);
}

// Equation 1 where all pairs fit into one block.
template <bool Measured, class S, class Weigh>
void learn_block(Layer<S>& layer, Rule rule, const Weigh& weigh, const typename S::number* x) {
    Block<S> here{layer.weights};
    weigh_block<Measured>(layer, weigh, 0, 0, x, here, here);
    Pushers<S> pushers{here, 0, 0, layer.K};
    const long end = computed_lanes(layer, layer.K - 1);
    for_lanes<S>(0, end, [&](auto v, long lane) {
        using V = decltype(v);
        Sums<V> sums = {};
        sum_weights(pushers, lane, sums);
        store<V>(layer.push + lane, sums.total());
        store<V>(layer.pull + lane, pull_of<V>(layer, rule, lane));
    });
    move_all<true>(layer, pushers, 0, end, x);
    layer.step();
}

// Equation 1 in blocks. The order of them is such that each neuron meets all others in their order.
template <bool Measured, class S, class Weigh>
void learn_blocks(Layer<S>& layer, Rule rule, const Weigh& weigh, const typename S::number* x) {
    using T = typename S::number;
    Block<S> here{layer.weights}, there{layer.weights + block * block};
    for (long i = 0; i < layer.numbers; ++i) layer.moved[i] = 0;
    for (long i = 0; i < 4 * layer.lanes; ++i) layer.partial[i] = 0;
    const long end = computed_lanes(layer, layer.K - 1);
    auto push = [&](const Block<S>& weights, long rows_from, long lanes_from) {
        if (!weights.squares) return;
        long rows = layer.K - rows_from < block ? layer.K - rows_from : block;
        long lanes_to = lanes_from + block < end ? lanes_from + block : end;
        Pushers<S> pushers{weights, rows_from, lanes_from, rows};
        for_lanes<S>(lanes_from, lanes_to, [&](auto v, long lane) {
            using V = decltype(v);
            Sums<V> sums;
            T* at = layer.partial + lane;
            for (long k = 0; k < 4; ++k) sums.part[k] = load<V>(at + k * layer.lanes);
            sum_weights(pushers, lane, sums);
            for (long k = 0; k < 4; ++k) store<V>(at + k * layer.lanes, sums.part[k]);
        });
        move_all<false>(layer, pushers, lanes_from, lanes_to, x);
    };
    for (long b = 0; b < layer.K; b += block)
        for (long a = 0; a <= b; a += block) {
            weigh_block<Measured>(layer, weigh, b, a, x, here, a == b ? here : there);
            push(here, b, a);
            if (a < b) push(there, a, b);
        }
    for_lanes<S>(0, end, [&](auto v, long lane) {
        using V = decltype(v);
        Sums<V> sums;
        for (long k = 0; k < 4; ++k) sums.part[k] = load<V>(layer.partial + k * layer.lanes + lane);
        auto pull = pull_of<V>(layer, rule, lane), push = sums.total();
        T *center = layer.centers + layer.place(lane), *moved = layer.moved + layer.place(lane);
        for (long d = 0; d < layer.D; ++d, center += layer.pitch, moved += layer.pitch)
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

// The first half of Equation 1 alone: mu_i += eta f_i(x) / sigma_i (x - mu_i).
template <class S>
void attract(const Layer<S>& layer, Rule rule, const typename S::number* x) {
    using V = typename S::vector;
    measure_sample(layer, x);
    for (long lane = 0; lane < layer.lanes; lane += S::lanes) {
        V pull = pull_of<S>(layer, rule, lane);
        auto* center = layer.centers + layer.place(lane);
        for (long d = 0; d < layer.D; ++d, center += layer.pitch) {
            V at = load<S>(center);
            store<S>(center, at + pull * (x[d] - at));
        }
    }
}

// ---- Equation 2 -----------------------------------------------------------------------------------

// sigma_i += eta_sigma max{f_x(mu_i) - 2 lambda sum_j f_j(mu_i), 0} f_i(mu_x) (sigma_x - sigma_i)
template <class S>
void adapt(Layer<S>& layer, Rule rule, typename S::number sample_width) {
    using T = typename S::number;
    using V = typename S::vector;
    if (sample_width == 0) return;  // f_x is 0 everywhere but at the sample itself
    for (long lane = 0; lane < layer.lanes; lane += S::lanes) {
        V others = {}, equal = {};  // those at the same place are counted, so that their order is nothing
        for (long j = 0; j < layer.K; ++j) {
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
