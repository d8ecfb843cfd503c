// Squared distances: |mu_i - mu_j|^2 between neurons, |mu_i - x|^2 from a sample.
//
// Pairs are measured in tiles: up to `group` neurons j (rows) against the neurons i of one vector (lanes).
// Only tiles on and below the diagonal are measured; the others are their mirror images.
#pragma once

#include "layer.hpp"

namespace gaussian_neurons::GN_ISA {

// Call f(vector type, lane) for the lanes [begin, end), whole groups, in the widest vectors that fit.
template <class S, class F>
GN_INLINE void for_lanes(Index begin, Index end, F f) {
    using N = Narrow<S>;
    for (; begin + S::lanes <= end; begin += S::lanes) f(S{}, begin);
    for (; begin < end; begin += N::lanes) f(N{}, begin);
}

// The end of the lanes that are measured for row j: those of its group and of the groups before it.
template <class S>
GN_INLINE Index computed_lanes(const Layer<S>& layer, Index j) {
    Index end = (j / group + 1) * group;
    return end < layer.lanes ? end : layer.lanes;
}

// Store the first lanes of `group` rows, transposed.
template <class V>
GN_INLINE void store_transposed(typename V::number* to, Index stride, const typename V::vector (&rows)[group],
                                Index lanes) {
    using N = Narrow<V>;
    constexpr Index L = N::lanes;
    GN_UNROLL
    for (Index lane = 0; lane < V::lanes; lane += L) {
        if (lane >= lanes) return;
        GN_UNROLL
        for (Index row = 0; row < group; row += L) {
            typename N::vector square[L];
            GN_UNROLL
            for (Index r = 0; r < L; ++r) square[r] = narrow<V>(rows[row + r], lane);
            transpose<N>(square);
            GN_UNROLL
            for (Index r = 0; r < L; ++r) store<N>(to + (lane + r) * stride + row, square[r]);
        }
    }
}

// ---- tiles ------------------------------------------------------------------------------------------

// R consecutive neurons j of one group.
template <Index R>
struct Consecutive {
    Index first;
    GN_INLINE Index operator[](Index r) const { return first + r; }

    template <class S>
    GN_INLINE Index place(const Layer<S>& layer, Index r) const {
        return layer.place(first) + r;
    }
    // The initial value of the sum of squares: 0, but `huge` for the pair of a neuron with itself.
    template <class S>
    GN_INLINE const typename S::number* start(const Layer<S>&, Index lane, Index r) const {
        Index after = first - lane;  // the table has zeros on both sides of its diagonal
        after = after < -group ? -group : after < 2 * group ? after : 2 * group;
        return diagonal<S>.numbers + (group + after + r) * S::lanes;
    }
};

// R neurons j of a list.
template <Index R>
struct Listed {
    const int32_t* list;
    GN_INLINE Index operator[](Index r) const { return list[r]; }

    template <class S>
    GN_INLINE Index place(const Layer<S>& layer, Index r) const {
        return layer.place(list[r]);
    }
    template <class S>
    GN_INLINE const typename S::number* start(const Layer<S>&, Index lane, Index r) const {
        std::size_t after = (std::size_t)(list[r] - lane);
        return diagonal<S>.numbers + (after < (std::size_t)S::lanes ? group + after : 0) * S::lanes;
    }
};

// Measure neurons j, and the sample if `Sample`, against the neurons i of one vector V. Call `use` with the
// distances of the pairs, which are still in registers.
template <class V, bool Sample, Index R, template <Index> class Rows, class S, class Use>
GN_INLINE void measure_tile(const Layer<S>& layer, const Rows<R>& rows, Index lane, const typename S::number* x,
                            Use use) {
    using T = typename S::number;
    const Index D = layer.D, pitch = layer.pitch;
    typename V::vector sum[R], to_sample = {};
    const T* theirs[R];
    GN_UNROLL
    for (Index r = 0; r < R; ++r) {
        sum[r] = load<V>(rows.start(layer, lane, r));
        theirs[r] = layer.centers + rows.place(layer, r);
    }
    const T* mine = layer.centers + layer.place(lane);
    for (Index d = 0, at = 0; d < D; ++d, at += pitch) {
        auto center = load<V>(mine + at);
        if constexpr (Sample) {
            auto difference = center - x[d];
            to_sample += difference * difference;
        }
        GN_UNROLL
        for (Index r = 0; r < R; ++r) {
            auto difference = center - theirs[r][at];
            sum[r] += difference * difference;
        }
    }
    if constexpr (Sample) store<V>(layer.distance + lane, to_sample);
    use(sum);
}

// The same with pairs that were measured before.
template <class V, Index R, class S, class Use>
GN_INLINE void measured_tile(const Layer<S>& layer, const Consecutive<R>& rows, Index lane, Use use) {
    typename V::vector sum[R];
    GN_UNROLL
    for (Index r = 0; r < R; ++r) sum[r] = load<V>(layer.pairs + rows[r] * layer.rows + lane);
    use(sum);
}

// Call f with the number of rows, at most `group`, as a compile-time constant.
template <Index R = group, class F>
GN_INLINE void with_rows(Index rows, F f) {
    if constexpr (R > 0) {
        if (rows >= R)
            f(std::integral_constant<Index, R>{});
        else
            with_rows<R - 1>(rows, f);
    }
}

template <class V, Index R>
GN_INLINE void store_rows(typename V::number* to, Index stride, const typename V::vector (&rows)[R]) {
    GN_UNROLL
    for (Index r = 0; r < R; ++r) store<V>(to + r * stride, rows[r]);
}

template <class V, Index R>
GN_INLINE void copy_rows(typename V::vector (&to)[group], const typename V::vector (&rows)[R]) {
    GN_UNROLL
    for (Index r = 0; r < R; ++r) to[r] = rows[r];
}

template <class V, bool Sample, Index R, class S>
GN_APART void measure_pairs(const Layer<S>& layer, Index row, Index lane, const typename S::number* x) {
    const Index stride = layer.rows;
    measure_tile<V, Sample>(layer, Consecutive<R>{row}, lane, x, [&](const auto& sum) GN_INLINED {
        typename V::vector all[group] = {};
        copy_rows<V>(all, sum);
        store_rows<V>(layer.pairs + row * stride + lane, stride, sum);
        store_transposed<V>(layer.pairs + lane * stride + row, stride, all, row - lane);
    });
}

// ---- all neurons ------------------------------------------------------------------------------------

// All pairs, into layer.pairs, and the sample if there is one. It is measured together with the last rows,
// which are the only ones measured against all lanes.
template <class S>
void measure(const Layer<S>& layer, const typename S::number* x) {
    for (Index row = 0; row < layer.K; row += group)
        with_rows(layer.K - row, [&](auto R) {
            for_lanes<S>(0, computed_lanes(layer, row), [&](auto v, Index lane) {
                if (x && row + group >= layer.K)
                    measure_pairs<decltype(v), true, R()>(layer, row, lane, x);
                else
                    measure_pairs<decltype(v), false, R()>(layer, row, lane, x);
            });
        });
}

// Call f(dimension, which of four sums) for each dimension. The four sums do not depend on each other.
template <class F>
GN_INLINE void for_dimensions(Index D, F f) {
    Index d = 0;
    for (; d + 4 <= D; d += 4) {
        GN_UNROLL
        for (Index k = 0; k < 4; ++k) f(d + k, k);
    }
    for (; d < D; ++d) f(d, 0);
}

// |mu_i - x|^2 of all neurons, into layer.distance.
template <class S>
void measure_sample(const Layer<S>& layer, const typename S::number* x) {
    for (Index lane = 0; lane < layer.lanes; lane += S::lanes) {
        const auto* center = layer.centers + layer.place(lane);
        typename S::vector sum[4] = {};
        for_dimensions(layer.D, [&](Index d, Index part) GN_INLINED {
            auto difference = load<S>(center + d * layer.pitch) - x[d];
            sum[part] += difference * difference;
        });
        store<S>(layer.distance + lane, (sum[0] + sum[1]) + (sum[2] + sum[3]));
    }
}

// The same for one center with contiguous dimensions. Lane k is sum[k] above: the same bits.
template <class S>
GN_INLINE typename S::number measure_center(Index D, const typename S::number* center,
                                            const typename S::number* x) {
    using Four = typename S::four;
    Four sum = {};
    Index d = 0;
    for (; d + 4 <= D; d += 4) {
        Four difference = *reinterpret_cast<const Four*>(center + d) - *reinterpret_cast<const Four*>(x + d);
        sum += difference * difference;
    }
    for (; d < D; ++d) {
        auto difference = center[d] - x[d];
        sum[0] += difference * difference;
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

}  // namespace gaussian_neurons::GN_ISA
