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
// Neurons are cut into groups, and only the squares of pairs on and below the diagonal are measured and
// weighed; the others are mirrored.
//
// Two neurons at the same place stay together, as they do in the reference: every number of the one is
// computed from the same numbers in the same order as that of the other. So a neuron meets itself with the
// weight of its strongest neighbour, which moves it nowhere, but takes the place in the sum that its twin's
// weight has in the twin's; and what is made of two widths does not depend on which of the two comes first.
#pragma once

#include "kernels.hpp"
#include "layer.hpp"

namespace gaussian_neurons::GN_ISA {

constexpr long tile_steps = GN_VECTOR_REGISTERS / 2;  // dimensions times vectors in a tile of steps

// The lanes that row j computes itself: those of its own group and the groups before.
template <class S>
GN_INLINE long computed_lanes(const Layer<S>& layer, long j) {
    long end = (j / group + 1) * group;
    return end < layer.stride ? end : layer.stride;
}

// Call f on the lanes that row j computes itself, in the widest vectors that fit.
template <class S, class F>
GN_INLINE void for_computed_lanes(const Layer<S>& layer, long j, F f) {
    using N = Narrow<S>;
    long lane = 0, end = computed_lanes(layer, j);
    for (; lane + S::lanes <= end; lane += S::lanes) f(S{}, lane);
    for (; lane < end; lane += N::lanes) f(N{}, lane);
}

// Fill in the squares above the diagonal.
template <class S>
void mirror(const Layer<S>& layer, typename S::number* matrix) {
    using N = Narrow<S>;
    constexpr long L = N::lanes;
    long stride = layer.stride;
    for (long row = group; row < layer.K; row += L)
        for (long lane = 0; lane < row / group * group; lane += L) {
            typename N::vector square[L];
            GN_UNROLL
            for (long r = 0; r < L; ++r) square[r] = load<N>(matrix + (row + r) * stride + lane);
            transpose<N>(square);
            GN_UNROLL
            for (long r = 0; r < L; ++r) store<N>(matrix + (lane + r) * stride + row, square[r]);
        }
}

// ---- |mu_i - mu_j|^2 and |mu_i - x|^2 -------------------------------------------------------------

// R neurons j, and the sample where it is wanted, against the neurons i of one vector V.
template <class V, long R, bool Sample, class S>
void measure_tile(const Layer<S>& layer, long row, long lane, const typename S::number* x) {
    using T = typename S::number;
    const long D = layer.D, stride = layer.stride;
    const long before = row - lane < 2 * group ? row - lane : 2 * group;
    const T* start = layer.diagonal + (group + before) * S::lanes;  // the diagonal, or zeros
    typename V::vector sum[R], to_sample = {};
    GN_UNROLL
    for (long r = 0; r < R; ++r) sum[r] = load<V>(start + r * S::lanes);
    const T *mine = layer.centers + lane, *theirs = layer.centers + row;
    for (long d = 0; d < D; ++d, mine += stride, theirs += stride) {
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
    GN_UNROLL
    for (long r = 0; r < R; ++r) store<V>(layer.pairs + (row + r) * stride + lane, sum[r]);
    if constexpr (Sample) store<V>(layer.distance + lane, to_sample);
}

// The tile of just so many rows: 1 to `group`.
template <class V, bool Sample, class S, long R = group>
GN_INLINE void measure_rows(const Layer<S>& layer, long row, long lane, const typename S::number* x) {
    if constexpr (R > 0) {
        if (layer.K - row >= R)
            measure_tile<V, R, Sample>(layer, row, lane, x);
        else
            measure_rows<V, Sample, S, R - 1>(layer, row, lane, x);
    }
}

template <bool Sample, class S>
GN_INLINE void measure_group(const Layer<S>& layer, long row, const typename S::number* x) {
    for_computed_lanes(layer, row, [&](auto v, long lane) {
        measure_rows<decltype(v), Sample>(layer, row, lane, x);
    });
}

// All pairs, and the sample with the last group, whose rows meet every lane.
template <class S>
void measure(const Layer<S>& layer, const typename S::number* x) {
    long last = (layer.K - 1) / group * group;
    for (long row = 0; row < last; row += group) measure_group<false>(layer, row, x);
    measure_group<true>(layer, last, x);
}

// |mu_i - x|^2 alone.
template <class S>
void measure_sample(const Layer<S>& layer, const typename S::number* x) {
    using V = typename S::vector;
    for (long lane = 0; lane < layer.stride; lane += S::lanes) {
        V sum[4] = {};
        auto add = [&](long d, V& to) {
            V difference = load<S>(layer.centers + d * layer.stride + lane) - x[d];
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

template <class S>
void weigh_equal(const Layer<S>& layer, Rule rule) {
    using T = typename S::number;
    T inverse = layer.inverse[0], scale = T(-2 * repulsion(rule)) * inverse;
    for (long j = 0; j < layer.K; ++j)
        for_computed_lanes(layer, j, [&](auto v, long lane) {
            using V = decltype(v);
            auto pair = load<V>(layer.pairs + j * layer.stride + lane);
            store<V>(layer.weights + j * layer.stride + lane,
                     scale * exp_of_negative<V>(-inverse * pair));
        });
    mirror(layer, layer.weights);
}

template <class S>
void weigh_own(const Layer<S>& layer, Rule rule) {
    using T = typename S::number;
    T scale = T(-repulsion(rule));
    for (long j = 0; j < layer.K; ++j) {
        T theirs = layer.inverse[j];
        for_computed_lanes(layer, j, [&](auto v, long lane) {
            using V = decltype(v);
            auto mine = load<V>(layer.inverse + lane);
            auto most = larger<V>(mine, splat<V>(theirs)), least = smaller<V>(mine, splat<V>(theirs));
            auto pair = -load<V>(layer.pairs + j * layer.stride + lane);
            auto sum = most * exp_of_negative<V>(pair * most) +
                       least * exp_of_negative<V>(pair * least);
            store<V>(layer.weights + j * layer.stride + lane, scale * sum);
        });
    }
    mirror(layer, layer.weights);
}

// The weight of the strongest neighbour of each neuron; weights are negative.
template <class S>
GN_INLINE typename S::vector strongest(const Layer<S>& layer, const typename S::number* column) {
    typename S::vector most[4] = {};
    long j = 0;
    for (; j + 4 <= layer.K; j += 4)
        for (long k = 0; k < 4; ++k)
            most[k] = smaller<S>(most[k], load<S>(column + (j + k) * layer.stride));
    for (; j < layer.K; ++j) most[0] = smaller<S>(most[0], load<S>(column + j * layer.stride));
    return smaller<S>(smaller<S>(most[0], most[1]), smaller<S>(most[2], most[3]));
}

// What multiplies x - mu_i in the step of neuron i.
template <class S>
GN_INLINE typename S::vector pull_of(const Layer<S>& layer, Rule rule, long lane) {
    auto inverse = load<S>(layer.inverse + lane);
    auto response = exp_of_negative<S>(-load<S>(layer.distance + lane) * inverse);
    return typename S::number(rule.learning_rate) * inverse * response;
}

// What multiplies x - mu_i and -mu_i in the step of neuron i.
template <class S>
void weigh_sample(const Layer<S>& layer, Rule rule) {
    using V = typename S::vector;
    for (long lane = 0; lane < layer.stride; lane += S::lanes) {
        auto* column = layer.weights + lane;
        V itself = strongest<S>(layer, column);
        for (long k = 0; k < S::lanes && lane + k < layer.K; ++k) {  // on the diagonal, until now 0
            V there = load<S>(layer.diagonal + (group + k) * S::lanes);
            auto* row = column + (lane + k) * layer.stride;
            store<S>(row, there > 0 ? itself : load<S>(row));
        }
        V sum[4] = {};
        long j = 0;
        for (; j + 4 <= layer.K; j += 4)
            for (long k = 0; k < 4; ++k) sum[k] += load<S>(column + (j + k) * layer.stride);
        for (; j < layer.K; ++j) sum[0] += load<S>(column + j * layer.stride);
        store<S>(layer.push + lane, (sum[0] + sum[1]) + (sum[2] + sum[3]));
        store<S>(layer.pull + lane, pull_of(layer, rule, lane));
    }
}

// ---- Equation 1 -----------------------------------------------------------------------------------

// A few dimensions of the neurons in a few vectors V.
template <class V, long Dims, long Vectors, class S>
void move_tile(const Layer<S>& layer, long dim, long lane, const typename S::number* x) {
    using T = typename S::number;
    using Lanes = typename V::vector;
    constexpr long L = V::lanes;
    const long K = layer.K, stride = layer.stride;
    Lanes step[Dims][Vectors], pull[Vectors], push[Vectors];
    GN_UNROLL
    for (long v = 0; v < Vectors; ++v) {
        pull[v] = load<V>(layer.pull + lane + v * L);
        push[v] = load<V>(layer.push + lane + v * L);
    }
    const T* mine = layer.centers + dim * stride + lane;
    GN_UNROLL
    for (long d = 0; d < Dims; ++d, mine += stride)
        GN_UNROLL
        for (long v = 0; v < Vectors; ++v) {
            Lanes center = load<V>(mine + v * L);
            step[d][v] = pull[v] * (x[dim + d] - center) - push[v] * center;
        }
    const T *weights = layer.weights + lane, *theirs = layer.centers + dim * stride;
    for (long j = 0; j < K; ++j, weights += stride, ++theirs) {
        Lanes weight[Vectors];
        GN_UNROLL
        for (long v = 0; v < Vectors; ++v) weight[v] = load<V>(weights + v * L);
        const T* their = theirs;
        GN_UNROLL
        for (long d = 0; d < Dims; ++d, their += stride)
            GN_UNROLL
            for (long v = 0; v < Vectors; ++v) step[d][v] += weight[v] * *their;
    }
    mine = layer.centers + dim * stride + lane;
    T* moved = layer.moved + dim * stride + lane;
    GN_UNROLL
    for (long d = 0; d < Dims; ++d, mine += stride, moved += stride)
        GN_UNROLL
        for (long v = 0; v < Vectors; ++v)
            store<V>(moved + v * L, load<V>(mine + v * L) + step[d][v]);
}

// The tile of just so many dimensions.
template <class V, long Vectors, long Dims, class S>
GN_INLINE void move_dims(const Layer<S>& layer, long dims, long dim, long lane,
                         const typename S::number* x) {
    if constexpr (Dims > 0) {
        if (dims == Dims)
            move_tile<V, Dims, Vectors>(layer, dim, lane, x);
        else
            move_dims<V, Vectors, Dims - 1>(layer, dims, dim, lane, x);
    }
}

template <class V, long Vectors, class S>
GN_INLINE void move_lanes(const Layer<S>& layer, long lane, const typename S::number* x) {
    constexpr long most = tile_steps / Vectors;
    long tiles = (layer.D + most - 1) / most;
    for (long t = 0; t < tiles; ++t) {  // as even as D allows: a lone last dimension would be slow
        long dim = t * layer.D / tiles, end = (t + 1) * layer.D / tiles;
        move_dims<V, Vectors, most>(layer, end - dim, dim, lane, x);
    }
}

template <class S>
void move(Layer<S>& layer, const typename S::number* x) {
    using N = Narrow<S>;
    constexpr long L = S::lanes;
    long lane = 0, end = computed_lanes(layer, layer.K - 1);
    for (; lane + 2 * L <= end; lane += 2 * L) move_lanes<S, 2>(layer, lane, x);
    for (; lane + L <= end; lane += L) move_lanes<S, 1>(layer, lane, x);
    for (; lane < end; lane += N::lanes) move_lanes<N, 1>(layer, lane, x);
    layer.swap();
}

// The first half of Equation 1 alone: mu_i += eta f_i(x) / sigma_i (x - mu_i).
template <class S>
void attract(const Layer<S>& layer, Rule rule, const typename S::number* x) {
    using V = typename S::vector;
    measure_sample(layer, x);
    for (long lane = 0; lane < layer.stride; lane += S::lanes) {
        V pull = pull_of(layer, rule, lane);
        auto* center = layer.centers + lane;
        for (long d = 0; d < layer.D; ++d, center += layer.stride) {
            V at = load<S>(center);
            store<S>(center, at + pull * (x[d] - at));
        }
    }
}

// ---- Equation 2 -----------------------------------------------------------------------------------

// sigma_i += eta_sigma max{f_x(mu_i) - 2 lambda sum_j f_j(mu_i), 0} f_i(mu_x) (sigma_x - sigma_i)
template <class S>
void adapt(const Layer<S>& layer, Rule rule, typename S::number sample_width) {
    using T = typename S::number;
    using V = typename S::vector;
    if (sample_width == 0) return;  // f_x is 0 everywhere but at the sample itself
    for (long lane = 0; lane < layer.stride; lane += S::lanes) {
        V others = {}, equal = {};  // those at the same place are counted, so that their order is nothing
        for (long j = 0; j < layer.K; ++j) {
            V response = exp_of_negative<S>(-load<S>(layer.pairs + j * layer.stride + lane) *
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
    for (long i = 0; i < layer.K; ++i) layer.inverse[i] = 1 / layer.widths[i];
}

}  // namespace gaussian_neurons::GN_ISA
