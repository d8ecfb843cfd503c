// The learning rule, once, for every lane width and precision. One sample costs four passes:
//
//     measure_pairs   |mu_i - mu_j|^2
//     weigh_pairs     w_ij = -eta lambda (f_i(mu_j) / sigma_i + f_j(mu_i) / sigma_j)
//     attract         y_i = mu_i - x, |y_i|^2, and -eta f_i(x) / sigma_i - sum_j w_ij
//     move            mu_i += sum_j w_ij (y_j - y_i) - eta f_i(x) / sigma_i y_i      (Equation 1)
//
// and where widths are learned, `adapt` (Equation 2). Measuring each center from the sample makes
// `move` a matrix product that loses no digits however far from the origin the data lies.
//
// Weights are symmetric. Neurons are cut into blocks, and only the pairs of blocks on and below the
// diagonal are computed; the others are mirrored.
#pragma once

#include "kernels.hpp"
#include "layer.hpp"

namespace gaussian_neurons::GN_ISA {

constexpr long max_dims = GN_VECTOR_REGISTERS / 4;
constexpr long samples_between_checks = 64;

// The end of the lanes that row j computes itself: those of its own block and the blocks before.
template <class S>
GN_INLINE long computed_lanes(const Layer<S>& layer, long j) {
    long end = (j / block + 1) * block;
    return end < layer.stride ? end : layer.stride;
}

template <class S>
void mirror(const Layer<S>& layer, typename S::number* matrix) {
    for (long j = block; j < layer.K; ++j)
        for (long i = 0; i < j / block * block; ++i)
            matrix[i * layer.stride + j] = matrix[j * layer.stride + i];
}

// ---- |mu_i - mu_j|^2 ------------------------------------------------------------------------------

// R neurons j against the L neurons i of one vector.
template <class S, long R>
void measure_tile(const Layer<S>& layer, long row, long lane) {
    using V = typename S::vector;
    constexpr long L = S::lanes;
    bool on_diagonal = row / block == lane / block;
    const auto* start = layer.diagonal + (on_diagonal ? (block - lane % block) * L : 0);
    V sum[R];
GN_UNROLL
    for (long r = 0; r < R; ++r) sum[r] = load<S>(start + r * L);
    for (long d = 0; d < layer.D; ++d) {
        const auto* center = layer.centers + d * layer.stride;
        V mine = load<S>(center + lane);
GN_UNROLL
        for (long r = 0; r < R; ++r) {
            V difference = mine - center[row + r];
            sum[r] += difference * difference;
        }
    }
GN_UNROLL
    for (long r = 0; r < R; ++r) store<S>(layer.pairs + (row + r) * layer.stride + lane, sum[r]);
}

template <class S, long R = block>
GN_INLINE void measure_rows(const Layer<S>& layer, long rows, long row, long lane) {
    if constexpr (R > 0) {
        if (rows == R)
            measure_tile<S, R>(layer, row, lane);
        else
            measure_rows<S, R - 1>(layer, rows, row, lane);
    }
}

template <class S>
void measure_pairs(const Layer<S>& layer) {
    for (long row = 0; row < layer.K; row += block) {
        long rows = layer.K - row < block ? layer.K - row : block;
        for (long lane = 0; lane < computed_lanes(layer, row); lane += S::lanes)
            measure_rows<S>(layer, rows, row, lane);
    }
}

// ---- w_ij -----------------------------------------------------------------------------------------

template <class S>
void weigh_equal(const Layer<S>& layer, Rule rule) {
    using T = typename S::number;
    for (long j = 0; j < layer.K; ++j)
        for (long i = 0; i < computed_lanes(layer, j); i += S::lanes) {
            auto inverse = load<S>(layer.inverse + i);
            auto response = exp_of_negative<S>(-load<S>(layer.pairs + j * layer.stride + i) * inverse);
            T scale = T(-2 * rule.inhibition * rule.learning_rate);
            store<S>(layer.weights + j * layer.stride + i, scale * inverse * response);
        }
    mirror(layer, layer.weights);
}

template <class S>
void weigh_own(const Layer<S>& layer, Rule rule) {
    using T = typename S::number;
    T scale = T(-rule.inhibition * rule.learning_rate);
    for (long j = 0; j < layer.K; ++j) {
        T theirs = layer.inverse[j];
        for (long i = 0; i < computed_lanes(layer, j); i += S::lanes) {
            auto mine = load<S>(layer.inverse + i);
            auto pair = -load<S>(layer.pairs + j * layer.stride + i);
            auto sum = mine * exp_of_negative<S>(pair * mine) +
                       theirs * exp_of_negative<S>(pair * theirs);
            store<S>(layer.weights + j * layer.stride + i, mine > 0 ? scale * sum : typename S::vector{});
        }
    }
    mirror(layer, layer.weights);
}

// ---- attraction -----------------------------------------------------------------------------------

// y_i and |y_i|^2 for the sample x.
template <class S>
void measure_sample(const Layer<S>& layer, const typename S::number* x) {
    using V = typename S::vector;
    for (long lane = 0; lane < layer.stride; lane += S::lanes) {
        V sum[4] = {};
        auto add = [&](long d, V& to) {
            V offset = load<S>(layer.centers + d * layer.stride + lane) - x[d];
            store<S>(layer.offsets + d * layer.stride + lane, offset);
            to += offset * offset;
        };
        long d = 0;
        for (; d + 4 <= layer.D; d += 4)
            for (long k = 0; k < 4; ++k) add(d + k, sum[k]);
        for (; d < layer.D; ++d) add(d, sum[0]);
        store<S>(layer.distance + lane, (sum[0] + sum[1]) + (sum[2] + sum[3]));
    }
}

// What a neuron's own offset adds to its step: -eta f_i(x) / sigma_i - sum_j w_ij.
template <class S>
void weigh_sample(const Layer<S>& layer, Rule rule) {
    using V = typename S::vector;
    for (long lane = 0; lane < layer.stride; lane += S::lanes) {
        V sum[4] = {};
        long j = 0;
        const auto* column = layer.weights + lane;
        for (; j + 4 <= layer.K; j += 4)
            for (long k = 0; k < 4; ++k) sum[k] += load<S>(column + (j + k) * layer.stride);
        for (; j < layer.K; ++j) sum[0] += load<S>(column + j * layer.stride);
        V inverse = load<S>(layer.inverse + lane);
        V response = exp_of_negative<S>(-load<S>(layer.distance + lane) * inverse);
        V attraction = typename S::number(rule.learning_rate) * inverse * response;
        store<S>(layer.own + lane, -attraction - ((sum[0] + sum[1]) + (sum[2] + sum[3])));
    }
}

// ---- mu_i += sum_j w_ij y_j + own_i y_i -----------------------------------------------------------

template <class S, long Dims, long Vectors>
void move_tile(const Layer<S>& layer, long dim, long lane) {
    using V = typename S::vector;
    constexpr long L = S::lanes;
    long stride = layer.stride;
    V step[Dims][Vectors];
GN_UNROLL
    for (long d = 0; d < Dims; ++d)
GN_UNROLL
        for (long v = 0; v < Vectors; ++v)
            step[d][v] = load<S>(layer.own + lane + v * L) *
                         load<S>(layer.offsets + (dim + d) * stride + lane + v * L);
    const auto* weights = layer.weights + lane;
    const auto* offsets = layer.offsets + dim * stride;
    for (long j = 0; j < layer.K; ++j) {
        V weight[Vectors];
GN_UNROLL
        for (long v = 0; v < Vectors; ++v) weight[v] = load<S>(weights + j * stride + v * L);
GN_UNROLL
        for (long d = 0; d < Dims; ++d)
GN_UNROLL
            for (long v = 0; v < Vectors; ++v) step[d][v] += weight[v] * offsets[d * stride + j];
    }
GN_UNROLL
    for (long d = 0; d < Dims; ++d)
GN_UNROLL
        for (long v = 0; v < Vectors; ++v) {
            auto* center = layer.centers + (dim + d) * stride + lane + v * L;
            store<S>(center, load<S>(center) + step[d][v]);
        }
}

template <class S, long Vectors, long Dims = max_dims>
GN_INLINE void move_dims(const Layer<S>& layer, long dims, long dim, long lane) {
    if constexpr (Dims > 0) {
        if (dims == Dims)
            move_tile<S, Dims, Vectors>(layer, dim, lane);
        else
            move_dims<S, Vectors, Dims - 1>(layer, dims, dim, lane);
    }
}

template <class S, long Vectors>
GN_INLINE void move_lanes(const Layer<S>& layer, long lane) {
    long groups = (layer.D + max_dims - 1) / max_dims;
    for (long g = 0; g < groups; ++g) {  // as even as D allows: a lone last dimension would be slow
        long dim = g * layer.D / groups, end = (g + 1) * layer.D / groups;
        move_dims<S, Vectors>(layer, end - dim, dim, lane);
    }
}

template <class S>
void move(const Layer<S>& layer) {
    long lane = 0;
    for (; lane + 2 * S::lanes <= layer.stride; lane += 2 * S::lanes) move_lanes<S, 2>(layer, lane);
    if (lane < layer.stride) move_lanes<S, 1>(layer, lane);
}

// ---- Equation 2 -----------------------------------------------------------------------------------

// sigma_i += eta_sigma max{f_x(mu_i) - 2 lambda sum_j f_j(mu_i), 0} f_i(mu_x) (sigma_x - sigma_i)
template <class S>
void adapt(const Layer<S>& layer, Rule rule, typename S::number sample_width) {
    using T = typename S::number;
    using V = typename S::vector;
    if (sample_width == 0) return;  // f_x is 0 everywhere but at the sample itself
    for (long lane = 0; lane < layer.stride; lane += S::lanes) {
        V others = {};
        for (long j = 0; j < layer.K; ++j)
            others += exp_of_negative<S>(-load<S>(layer.pairs + j * layer.stride + lane) *
                                         layer.inverse[j]);
        V distance = -load<S>(layer.distance + lane), width = load<S>(layer.widths + lane);
        V match = exp_of_negative<S>(distance / sample_width) - T(2 * rule.inhibition) * others;
        V response = exp_of_negative<S>(distance / width);
        V gain = T(rule.width_learning_rate) * larger<S>(match, V{}) * response;
        store<S>(layer.own + lane, width + gain * (sample_width - width));
    }
    for (long i = 0; i < layer.K; ++i) {  // all widths from the old ones: no j above saw a new one
        layer.widths[i] = layer.own[i];
        layer.inverse[i] = 1 / layer.widths[i];
    }
}

// ---- one sample, in its cases ---------------------------------------------------------------------

template <class S, bool Equal>
struct Centers {
    static void begin(const Layer<S>&) {}
    static void learn(const Layer<S>& layer, Rule rule, const typename S::number* x,
                      typename S::number) {
        measure_pairs(layer);
        if constexpr (Equal)
            weigh_equal(layer, rule);
        else
            weigh_own(layer, rule);
        measure_sample(layer, x);
        weigh_sample(layer, rule);
        move(layer);
    }
};

template <class S>
struct Widths {
    static void begin(const Layer<S>& layer) {
        measure_pairs(layer);
        mirror(layer, layer.pairs);
    }
    static void learn(const Layer<S>& layer, Rule rule, const typename S::number* x,
                      typename S::number sample_width) {
        measure_sample(layer, x);
        adapt(layer, rule, sample_width);
    }
};

// The pairs that Equation 2 measures after the centers moved serve the next sample's Equation 1.
template <class S>
struct Both {
    static void begin(const Layer<S>& layer) { Widths<S>::begin(layer); }
    static void learn(const Layer<S>& layer, Rule rule, const typename S::number* x,
                      typename S::number sample_width) {
        weigh_own(layer, rule);
        measure_sample(layer, x);
        weigh_sample(layer, rule);
        move(layer);
        Widths<S>::begin(layer);
        Widths<S>::learn(layer, rule, x, sample_width);
    }
};

// ---- many samples ---------------------------------------------------------------------------------

template <class S, class Case>
Outcome learn_all(Layer<S>& layer, Rule rule, long n, const typename S::number* samples,
                  const typename S::number* sample_widths) {
    auto learn = [&](long t) {
        Case::learn(layer, rule, samples + t * layer.D, sample_widths ? sample_widths[t] : 0);
    };
    Case::begin(layer);
    for (long begin = 0; begin < n; begin += samples_between_checks) {
        long end = begin + samples_between_checks < n ? begin + samples_between_checks : n;
        layer.save();
        for (long t = begin; t < end; ++t) learn(t);
        if (layer.finite()) continue;
        layer.restore();  // a number that is not finite stays so: go back and see where it began
        Case::begin(layer);
        for (long t = begin; t < end; ++t) {
            learn(t);
            if (!layer.finite()) return {t, layer.first_not_finite()};
        }
    }
    return {n, -1};
}

template <class S>
Outcome learn(Rule rule, long K, long D, long n, const typename S::number* samples,
              const typename S::number* sample_widths, typename S::number* centers,
              typename S::number* widths, typename S::number* work) {
    Layer<S> layer(K, D, work);
    layer.read(centers, widths);
    bool learn_centers = rule.learning_rate > 0;
    bool learn_widths = rule.width_learning_rate > 0 && sample_widths;
    Outcome outcome = {n, -1};
    if (learn_centers && learn_widths)
        outcome = learn_all<S, Both<S>>(layer, rule, n, samples, sample_widths);
    else if (learn_widths)
        outcome = learn_all<S, Widths<S>>(layer, rule, n, samples, sample_widths);
    else if (learn_centers && rule.equal_widths)
        outcome = learn_all<S, Centers<S, true>>(layer, rule, n, samples, sample_widths);
    else if (learn_centers)
        outcome = learn_all<S, Centers<S, false>>(layer, rule, n, samples, sample_widths);
    layer.write(centers, widths);
    return outcome;
}

}  // namespace gaussian_neurons::GN_ISA
