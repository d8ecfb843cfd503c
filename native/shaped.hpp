// The learning rule for neurons with a covariance each, diagonal or full: equations [16] to [18] of
// docs/algorithm.md.
//
//     mu_i += eta f_i(x) P_i (x - mu_i) - eta lambda sum_j (f_i(mu_j) P_i + f_j(mu_i) P_j) (mu_j - mu_i)
//
// where P_i is the inverse of Sigma_i. A vector holds the same dimension of consecutive neurons, one in each
// lane, as in layer.hpp, but in one panel: covariances need far more memory than centers. Padding lanes have
// centers 0 and never affect a neuron.
#pragma once

#include <type_traits>

#include "inverse.hpp"
#include "kernels.hpp"
#include "measuring.hpp"

namespace gaussian_neurons::GN_ISA {

constexpr Index tile_sums = GN_VECTOR_REGISTERS - 4;  // that fit into registers

// Columns mu_j - mu_i of some vectors of neurons j. The sample takes the place of neuron i.
template <class S, Index Vectors>
struct Differences {
    const typename S::number *others, *center, *sample;
    Index lanes;
    typename S::integers self[Vectors];

    GN_INLINE typename S::vector operator()(Index d, Index v) const {
        auto other = load<S>(others + d * lanes + v * S::lanes);
        return (self[v] ? splat<S>(sample[d]) : other) - center[d];
    }
};

// Columns that are stored.
template <class S, Index Vectors>
struct Columns {
    const typename S::number* columns;
    GN_INLINE typename S::vector operator()(Index d, Index v) const {
        return load<S>(columns + (d * Vectors + v) * S::lanes);
    }
};

// The rows [first, first + Rows) of M C for a symmetric matrix M, its rows `row` apart, and some vectors of the
// columns of C, (D, Vectors), which are stored if first is 0. Adds their part of the quadratic forms c^T M c.
template <class S, Index Rows, Index Vectors, class From>
GN_APART void multiply_tile(Index D, Index first, const typename S::number* matrix, Index row, const From& given,
                            typename S::number* columns, typename S::number* out, typename S::number* form) {
    constexpr Index L = S::lanes, pitch = Vectors * L;
    typename S::vector sum[Rows][Vectors] = {};
    const From from = given;
    matrix += first;
    for (Index e = 0; e < D; ++e, matrix += row) {
        typename S::vector value[Vectors];
        GN_UNROLL
        for (Index v = 0; v < Vectors; ++v) {
            value[v] = from(e, v);
            if (std::is_same_v<From, Differences<S, Vectors>>) store<S>(columns + e * pitch + v * L, value[v]);
        }
        GN_UNROLL
        for (Index d = 0; d < Rows; ++d)
            GN_UNROLL
            for (Index v = 0; v < Vectors; ++v) sum[d][v] += matrix[d] * value[v];
    }
    columns += first * pitch;
    out += first * pitch;
    GN_UNROLL
    for (Index v = 0; v < Vectors; ++v) {
        typename S::vector total[4] = {};
        GN_UNROLL
        for (Index d = 0; d < Rows; ++d) {
            total[d % 4] += load<S>(columns + d * pitch + v * L) * sum[d][v];
            store<S>(out + d * pitch + v * L, sum[d][v]);
        }
        auto part = (total[0] + total[1]) + (total[2] + total[3]);
        store<S>(form + v * L, first == 0 ? part : load<S>(form + v * L) + part);
    }
}

// The same with a number of rows that is known when it runs.
template <class S, Index Rows, Index Vectors, class From>
GN_INLINE void multiply_rows(Index rows, Index D, Index first, const typename S::number* matrix, Index row,
                             const From& from, typename S::number* columns, typename S::number* out,
                             typename S::number* form) {
    if constexpr (Rows > 1)
        if (rows < Rows)
            return multiply_rows<S, Rows - 1, Vectors>(rows, D, first, matrix, row, from, columns, out, form);
    multiply_tile<S, Rows, Vectors>(D, first, matrix, row, from, columns, out, form);
}

// M C, in tiles of at most so many rows.
template <class S, Index Vectors>
GN_INLINE void multiply(Index most, Index D, const typename S::number* matrix, Index row,
                        const Differences<S, Vectors>& differences, typename S::number* columns,
                        typename S::number* out, typename S::number* form) {
    constexpr Index largest = tile_sums / Vectors;
    multiply_rows<S, largest, Vectors>(most, D, 0, matrix, row, differences, columns, out, form);
    for (Index first = most; first < D; first += most)
        multiply_rows<S, largest, Vectors>(first + most < D ? most : D - first, D, first, matrix, row,
                                           Columns<S, Vectors>{columns}, columns, out, form);
}

template <class S>
GN_INLINE typename S::number sum_of(typename S::vector value) {
    typename S::number sum = 0;
    for (Index k = 0; k < S::lanes; ++k) sum += value[k];
    return sum;
}

// A layer while it learns. Diagonal covariances are stored like centers, full ones as matrices.
template <class S, bool Full>
struct Shaped {
    using T = typename S::number;
    using V = typename S::vector;
    static constexpr Index L = S::lanes;
    static constexpr Index at_once = 16 / sizeof(T);  // full: neurons that do not wait for each other's results

    Index K, D;
    Index lanes;      // K rounded up to whole vectors
    Index panel;      // D * lanes
    Index row;        // full: D rounded up to whole vectors, from one row of an inverse to the next
    Index size;       // of all covariances
    Index room_each;  // of one inverse
    Index heights[2]; // full: rows of the tiles of a product with one or two vectors of columns
    Index broken;     // the first neuron whose covariance has no inverse, or -1
    T* centers;       // (D, lanes)
    T* moved;         // (D, lanes)      diagonal
    T* rows;          // (lanes, row)    full: centers, transposed
    T* covariances;   // (D, lanes) or (K, D, D)
    T* inverses;      // (D, lanes) or (K, D, row)
    T* weighted;      // (D, lanes)      diagonal: P_j mu_j
    T* force;         // (D, lanes)      full: sum_j f_j(mu_i) P_j (mu_i - mu_j)
    T* steps;         // (lanes, row)    full: what P_i adds to mu_i
    T* pairs;         // (lanes, lanes)  f_i(mu_j) at row j, lane i (diagonal) or row i, lane j (full); 0 if equal
    T* mirrored;      // (lanes, lanes)  diagonal: transposed
    T* equal;         // (lanes,)        how many other neurons are at the same place
    T* response;      // (lanes,)        f_i(x)
    T* gain;          // (lanes,)        [18]: f_x(mu_i), then the factor of Sigma_x - Sigma_i
    T* exists;        // (lanes,)        1 for neurons, 0 in the padding
    T* numbers;       // (lanes,)        full: 0, 1, 2, ...
    T* columns;       // (D, 2 L)        full: differences of one neuron
    T* products;      // (at_once, D, lanes)  full: P_i times the differences, vectors in the order of `columns`
    T* forms;         // (at_once, lanes)     full: their quadratic forms, then responses
    T* sample;        // (row,)          full: the sample, with 0 up to a whole vector
    T* column;        // (at_once, row)  full: what P_i is applied to, likewise
    T* narrowing;     // (lanes,)        [18]: 2 lambda sum_j f_j(mu_i)
    T* factor;        // (D, row)        full: of the sample's covariance, L^T with 1 on its diagonal
    T* pivots;        // (D,)            the inverse of its pivots, or of a diagonal covariance
    T* saved_centers;
    T* saved_covariances;
    T* work;          // doubles of `invert`

    static Index head() { return Layer<S>::round_up(sizeof(Shaped) / sizeof(T) + 1, 64 / sizeof(T)); }

    static Index size_of(Index K, Index D) { return Full ? K * D * D : D * Layer<S>::round_up(K, L); }

    static Index workspace(Index K, Index D) { return head() + Shaped(K, D).place(nullptr); }

    Shaped(Index K, Index D, const T* from_centers, const T* from_covariances, T* memory) : Shaped(K, D) {
        T* first = memory + head();
        const Index used = place(first);
        for (Index k = 0; k < used; ++k) first[k] = 0;
        for (Index i = 0; i < K; ++i) {
            exists[i] = 1;
            for (Index d = 0; d < D; ++d) centers[d * lanes + i] = from_centers[i * D + d];
        }
        if constexpr (Full) {
            for (Index i = 0; i < size; ++i) covariances[i] = from_covariances[i];
            for (Index i = 0; i < lanes; ++i) numbers[i] = T(i);
            fill_rows();
        } else {
            for (Index i = 0; i < lanes; ++i)
                for (Index d = 0; d < D; ++d) covariances[d * lanes + i] = i < K ? from_covariances[i * D + d] : 1;
        }
        for (Index i = 0; i < K; ++i) invert_one(i);
    }

    void write(T* to_centers, T* to_covariances) const {
        for (Index i = 0; i < K; ++i)
            for (Index d = 0; d < D; ++d) {
                to_centers[i * D + d] = centers[d * lanes + i];
                if constexpr (!Full) to_covariances[i * D + d] = covariances[d * lanes + i];
            }
        for (Index i = 0; Full && i < size; ++i) to_covariances[i] = covariances[i];
    }

    void invert_one(Index i) {
        if constexpr (Full) {
            const bool regular = invert(D, covariances + i * D * D, inverse_of(i), row, (double*)work);
            if (!regular && broken < 0) broken = i;
        } else {
            for (Index d = 0; d < D; ++d) {
                inverses[d * lanes + i] = 1 / covariances[d * lanes + i];
                if (!(covariances[d * lanes + i] > 0) && broken < 0) broken = i;
            }
        }
    }

    void fill_rows() {
        for (Index i = 0; i < K; ++i)
            for (Index d = 0; d < D; ++d) rows[i * row + d] = centers[d * lanes + i];
    }

    T* inverse_of(Index i) const { return inverses + i * room_each; }

    void save() {
        for (Index i = 0; i < panel; ++i) saved_centers[i] = centers[i];
        for (Index i = 0; i < size; ++i) saved_covariances[i] = covariances[i];
    }

    void restore() {
        for (Index i = 0; i < panel; ++i) centers[i] = saved_centers[i];
        for (Index i = 0; i < size; ++i) covariances[i] = saved_covariances[i];
        broken = -1;
        for (Index i = 0; i < K; ++i) invert_one(i);
        if constexpr (Full) fill_rows();
    }

    Index first_invalid() const {
        for (Index i = 0; i < K; ++i) {
            T sum = 0;  // x - x is 0 for finite numbers only
            for (Index d = 0; d < D; ++d) {
                sum += centers[d * lanes + i] - centers[d * lanes + i];
                if constexpr (!Full) sum += covariances[d * lanes + i] - covariances[d * lanes + i];
            }
            for (Index k = 0; Full && k < D * D; ++k)
                sum += covariances[i * D * D + k] - covariances[i * D * D + k];
            if (!(sum == 0) || i == broken) return i;
        }
        return -1;
    }

    // ---- the steps ----------------------------------------------------------------------------------

    // response_i = f_i(x)
    void respond(const T* x) {
        measure(x);
        for (Index lane = 0; lane < lanes; lane += L)
            store<S>(response + lane, exp_of_negative<S>(-load<S>(response + lane)));
    }

    // response_i = (x - mu_i)^T P_i (x - mu_i)
    void measure(const T* x) {
        if constexpr (Full) {
            read_sample(x);
            for (Index i = 0; i < K; ++i) {
                for (Index d = 0; d < row; d += L)
                    store<S>(column + d, load<S>(sample + d) - load<S>(rows + i * row + d));
                apply(inverse_of(i), column, steps + i * row);
                V sum = {};
                for (Index d = 0; d < row; d += L) sum += load<S>(column + d) * load<S>(steps + i * row + d);
                response[i] = sum_of<S>(sum);
            }
        } else {
            for (Index lane = 0; lane < lanes; lane += L) {
                V sum = {};
                for (Index d = 0, at = lane; d < D; ++d, at += lanes) {
                    V difference = x[d] - load<S>(centers + at);
                    sum += load<S>(inverses + at) * difference * difference;
                }
                store<S>(response + lane, sum);
            }
        }
    }

    // The responses of neurons to each other's centers: pairs, mirrored and the force; and to a sample. Neurons at
    // the same place are counted apart. They do not push each other, and stay together to the last bit: sums over j
    // have the same numbers in the same order for both.
    void weigh(const T* x) {
        if constexpr (Full) {
            begin_force(x);
            for_neurons([&](Index i, auto count) GN_INLINED { weigh_full<count>(i); });
        } else {
            respond(x);
            for (Index lane = 0; lane < lanes; ++lane) equal[lane] = -1;  // a neuron itself does not count
            for (Index lane = 0; lane < lanes; lane += L) {
                Index j = 0;
                for (; j + group <= K; j += group) weigh_diagonal<group>(j, lane);
                for (; j < K; ++j) weigh_diagonal<1>(j, lane);
            }
            for (Index i = 0; i < lanes; i += L)
                for (Index j = 0; j < lanes; j += L)
                    transpose_square(pairs + i * lanes + j, lanes, mirrored + j * lanes + i, lanes);
        }
    }

    static GN_INLINE void transpose_square(const T* from, Index from_row, T* to, Index to_row) {
        V square[L];
        GN_UNROLL
        for (Index k = 0; k < L; ++k) square[k] = load<S>(from + k * from_row);
        transpose<S>(square);
        GN_UNROLL
        for (Index k = 0; k < L; ++k) store<S>(to + k * to_row, square[k]);
    }

    // The responses of pairs of neurons at different places, 0 for others, given their quadratic forms.
    static GN_INLINE V apart(V form, V response) { return form == V{} ? V{} : response; }

    GN_INLINE void count_equal(V form, Index lane) {
        store<S>(equal + lane, load<S>(equal + lane) + (form == V{} ? splat<S>(1) : V{}));
    }

    // f_i(mu_j) for R neurons j and the neurons i of one vector.
    template <Index R>
    GN_INLINE void weigh_diagonal(Index j, Index lane) {
        V sum[R] = {};
        const T *theirs = centers + j, *mine = centers + lane, *inverse = inverses + lane;
        for (Index d = 0; d < D; ++d, theirs += lanes, mine += lanes, inverse += lanes) {
            V center = load<S>(mine), scale = load<S>(inverse);
            GN_UNROLL
            for (Index r = 0; r < R; ++r) {
                V difference = theirs[r] - center;
                sum[r] += scale * difference * difference;
            }
        }
        GN_UNROLL
        for (Index r = 0; r < R; ++r) {
            store<S>(pairs + (j + r) * lanes + lane, apart(sum[r], exp_of_negative<S>(-sum[r])));
            count_equal(sum[r], lane);
        }
    }

    void read_sample(const T* x) {
        for (Index d = 0; d < D; ++d) sample[d] = x[d];
    }

    void begin_force(const T* x) {
        read_sample(x);
        for (Index k = 0; k < panel; ++k) force[k] = 0;
        for (Index lane = 0; lane < lanes; ++lane) equal[lane] = 0;
    }

    // Calls use(i, N) for neurons i to i + N - 1.
    template <class Use>
    GN_INLINE void for_neurons(Use use) const {
        Index i = 0;
        for (; i + at_once <= K; i += at_once) use(i, std::integral_constant<Index, at_once>{});
        for (; i < K; ++i) use(i, std::integral_constant<Index, 1>{});
    }

    // f_i(mu_j) for N neurons i and all neurons j, their part of the force on them, and f_i(x).
    template <Index N>
    GN_INLINE void weigh_full(Index i) {
        for (Index n = 0; n < N; ++n) {
            Index lane = 0;
            for (; lane + 2 * L <= lanes; lane += 2 * L) weigh_lanes<2>(i, n, lane);
            for (; lane < lanes; lane += L) weigh_lanes<1>(i, n, lane);
        }
        for (Index lane = 0; lane < lanes; lane += L) {
            V same = load<S>(equal + lane);
            GN_UNROLL
            for (Index n = 0; n < N; ++n) {
                V form = load<S>(forms + n * lanes + lane), all = exp_of_negative<S>(-form);
                V others = load<S>(numbers + lane) == T(i + n) ? V{} : load<S>(exists + lane);
                store<S>(forms + n * lanes + lane, all);
                store<S>(pairs + (i + n) * lanes + lane, apart(form, all) * others);
                same += form == V{} ? others : V{};
            }
            store<S>(equal + lane, same);
        }
        for (Index n = 0; n < N; ++n) response[i + n] = forms[n * lanes + i + n];
        Index lane = 0;
        for (; lane + 2 * L <= lanes; lane += 2 * L) push_lanes<N, 2>(i, lane);
        for (; lane < lanes; lane += L) push_lanes<N, 1>(i, lane);
    }

    // P_i (mu_j - mu_i) for some vectors of neurons j, and x in place of mu_i.
    template <Index Vectors>
    GN_INLINE void weigh_lanes(Index first, Index n, Index lane) {
        const Index i = first + n;
        Differences<S, Vectors> differences{centers + lane, rows + i * row, sample, lanes, {}};
        GN_UNROLL
        for (Index v = 0; v < Vectors; ++v) differences.self[v] = load<S>(numbers + lane + v * L) == T(i);
        multiply<S, Vectors>(heights[Vectors - 1], D, inverse_of(i), row, differences, columns,
                             products + n * panel + lane * D, forms + n * lanes + lane);
    }

    // The part of N neurons i in the force on some vectors of others.
    template <Index N, Index Vectors>
    GN_INLINE void push_lanes(Index i, Index lane) {
        V response[N][Vectors];
        GN_UNROLL
        for (Index n = 0; n < N; ++n)
            GN_UNROLL
            for (Index v = 0; v < Vectors; ++v) response[n][v] = load<S>(pairs + (i + n) * lanes + lane + v * L);
        const T* product = products + lane * D;
        for (Index d = 0, at = lane; d < D; ++d, at += lanes, product += Vectors * L)
            GN_UNROLL
            for (Index v = 0; v < Vectors; ++v) {
                V sum = load<S>(force + at + v * L);
                GN_UNROLL
                for (Index n = 0; n < N; ++n) sum += response[n][v] * load<S>(product + n * panel + v * L);
                store<S>(force + at + v * L, sum);
            }
    }

    // [17], given f_i(x) and, if centers repel each other, weigh(). If `weighs`, that is done here.
    void move(Rule rule, const T* x, bool repels, bool weighs) {
        const T rate = T(rule.learning_rate);
        const T push = repels ? T(rule.learning_rate * rule.inhibition * double(rule.repulsion_every)) : T(0);
        if constexpr (Full) {
            if (weighs) begin_force(x);
            for_neurons([&](Index i, auto count) GN_INLINED {  // their inverses stay in the nearest cache
                if (weighs) weigh_full<count>(i);
                step_of<count>(i, rate, push);
            });
            move_full(push);
        } else {
            if (weighs) weigh(x);
            move_diagonal(rate, push, x);
            T* old = centers;
            centers = moved;
            moved = old;
        }
    }

    void move_diagonal(T rate, T push, const T* x) {
        for (Index k = 0; push > 0 && k < panel; k += L)
            store<S>(weighted + k, load<S>(inverses + k) * load<S>(centers + k));
        for (Index lane = 0; lane < lanes; lane += L) {
            V pushed = {};  // sum_j f_i(mu_j)
            for (Index j = 0; push > 0 && j < K; ++j) pushed += load<S>(pairs + j * lanes + lane);
            Index d = 0;
            for (; d + 8 <= D; d += 8) move_dimensions<8>(rate, push, x, lane, d, pushed);
            for (; d + 3 <= D; d += 3) move_dimensions<3>(rate, push, x, lane, d, pushed);
            for (; d < D; ++d) move_dimensions<1>(rate, push, x, lane, d, pushed);
        }
    }

    template <Index Dims>
    GN_INLINE void move_dimensions(T rate, T push, const T* x, Index lane, Index dim, V pushed) {
        V own[Dims] = {}, other[Dims] = {}, back[Dims] = {};
        const T *center = centers + dim * lanes, *product = weighted + dim * lanes, *scale = inverses + dim * lanes;
        for (Index j = 0; push > 0 && j < K; ++j) {
            V mine = load<S>(pairs + j * lanes + lane), theirs = load<S>(mirrored + j * lanes + lane);
            GN_UNROLL
            for (Index d = 0; d < Dims; ++d) {
                own[d] += mine * center[d * lanes + j];
                other[d] += theirs * product[d * lanes + j];
                back[d] += theirs * scale[d * lanes + j];
            }
        }
        V pull = rate * load<S>(response + lane);
        GN_UNROLL
        for (Index d = 0; d < Dims; ++d) {
            const Index at = (dim + d) * lanes + lane;
            V here = load<S>(centers + at), inverse = load<S>(inverses + at);
            V repulsion = inverse * (own[d] - pushed * here) + (other[d] - back[d] * here);
            store<S>(moved + at, here + (inverse * (pull * (x[dim + d] - here)) - push * repulsion));
        }
    }

    // steps_i = P_i (eta f_i(x) (x - mu_i) - eta lambda sum_j f_i(mu_j) (mu_j - mu_i)) for N neurons i
    template <Index N>
    GN_INLINE void step_of(Index i, T rate, T push) {
        Index d = 0;
        for (; d + 2 * L <= row; d += 2 * L) gather<N, 2>(i, d, rate, push);
        for (; d < row; d += L) gather<N, 1>(i, d, rate, push);
        for (Index n = 0; n < N; ++n) apply(inverse_of(i + n), column + n * row, steps + (i + n) * row);
    }

    // What P_i is applied to.
    template <Index N, Index Vectors>
    GN_INLINE void gather(Index i, Index dim, T rate, T push) {
        const T *here = rows + i * row + dim, *pair = pairs + i * lanes, *other = rows + dim;
        V sum[N][Vectors] = {}, pushed[N] = {};
        if (push > 0)
            for (Index j = 0; j < lanes; ++j, other += row)
                GN_UNROLL
                for (Index n = 0; n < N; ++n) {
                    V response = splat<S>(pair[n * lanes + j]);
                    pushed[n] += response;
                    GN_UNROLL
                    for (Index v = 0; v < Vectors; ++v) sum[n][v] += response * load<S>(other + v * L);
                }
        GN_UNROLL
        for (Index n = 0; n < N; ++n)
            GN_UNROLL
            for (Index v = 0; v < Vectors; ++v) {
                V center = load<S>(here + n * row + v * L);
                V pull = rate * response[i + n] * (load<S>(sample + dim + v * L) - center);
                store<S>(column + n * row + dim + v * L, pull - push * (sum[n][v] - pushed[n] * center));
            }
    }

    // The centers after their steps, and rows.
    void move_full(T push) {
        for (Index lane = 0; lane < lanes; lane += L)
            for (Index d = 0; d < D; d += L) {
                V square[L];
                GN_UNROLL
                for (Index k = 0; k < L; ++k) square[k] = load<S>(steps + (lane + k) * row + d);
                transpose<S>(square);
                GN_UNROLL
                for (Index k = 0; k < L; ++k) {
                    if (d + k >= D) break;
                    const Index at = (d + k) * lanes + lane;
                    V step = push > 0 ? square[k] + push * load<S>(force + at) : square[k];
                    square[k] = load<S>(centers + at) + step;
                    store<S>(centers + at, square[k]);
                }
                transpose<S>(square);
                GN_UNROLL
                for (Index k = 0; k < L; ++k) store<S>(rows + (lane + k) * row + d, square[k]);
            }
    }

    // A symmetric matrix times a column; both columns are filled up with 0 to whole vectors.
    GN_INLINE void apply(const T* matrix, const T* column, T* out) const {
        Index d = 0;
        for (; d + 2 * L <= row; d += 2 * L) apply_rows<2>(matrix + d, column, out + d);
        for (; d < row; d += L) apply_rows<1>(matrix + d, column, out + d);
    }

    template <Index Vectors>
    GN_INLINE void apply_rows(const T* matrix, const T* column, T* out) const {
        V sum[4][Vectors] = {};
        for_dimensions(D, [&](Index e, Index part) GN_INLINED {
            GN_UNROLL
            for (Index v = 0; v < Vectors; ++v) sum[part][v] += column[e] * load<S>(matrix + e * row + v * L);
        });
        GN_UNROLL
        for (Index v = 0; v < Vectors; ++v)
            store<S>(out + v * L, (sum[0][v] + sum[1][v]) + (sum[2][v] + sum[3][v]));
    }

    // [18], given f_i(x) and weigh() after the step of the centers. The pairs are then those of the new state.
    void adapt(Rule rule, const T* x, const T* sample_covariance) {
        bool free = false, changed = false;  // free: f_x(mu_i), which is at most 1, matters
        for (Index lane = 0; lane < lanes; lane += L) {
            V sum = {};
            for (Index j = 0; j < K; ++j) sum += load<S>((Full ? pairs : mirrored) + j * lanes + lane);
            store<S>(narrowing + lane, T(2 * rule.inhibition) * (sum + load<S>(equal + lane)));
        }
        for (Index i = 0; i < K; ++i) free |= narrowing[i] < 1 && response[i] > 0;
        if (!free || !match(x, sample_covariance)) return;
        for (Index lane = 0; lane < lanes; lane += L) {
            V freedom = larger<S>(load<S>(gain + lane) - load<S>(narrowing + lane), V{});
            store<S>(gain + lane, T(rule.width_learning_rate) * freedom * load<S>(response + lane));
        }
        if constexpr (Full) {
            for (Index i = 0; i < K; ++i) {
                if (gain[i] == 0 || !approach(i, sample_covariance)) continue;
                invert_one(i);
                changed = true;
            }
        } else {
            for (Index lane = 0; lane < lanes; lane += L) changed |= approach_diagonal(lane, sample_covariance);
        }
        if (changed) weigh(x);
    }

    // Sigma_i += gain_i (Sigma_x - Sigma_i). Returns whether a number changed.
    bool approach(Index i, const T* __restrict sample_covariance) {
        T* __restrict mine = covariances + i * D * D;
        const T part = gain[i];
        T changes = 0;
        for (Index k = 0; k < D * D; ++k) {
            const T before = mine[k], after = before + part * (sample_covariance[k] - before);
            changes = after != before ? T(1) : changes;
            mine[k] = after;
        }
        return changes != 0;
    }

    // The same for a vector of neurons, and their inverses.
    bool approach_diagonal(Index lane, const T* sample_covariance) {
        V part = load<S>(gain + lane), changes = {}, smallest = splat<S>(S::largest);
        for (Index d = 0, at = lane; d < D; ++d, at += lanes) {
            V before = load<S>(covariances + at), after = before + part * (sample_covariance[d] - before);
            changes = after != before ? splat<S>(1) : changes;
            smallest = smaller<S>(smallest, after);
            store<S>(covariances + at, after);
            store<S>(inverses + at, 1 / after);
        }
        for (Index k = 0; k < L; ++k)
            if (lane + k < K && !(smallest[k] > 0) && broken < 0) broken = lane + k;
        return !all_below<S>(changes, 1);
    }

    // gain_i = f_x(mu_i); false if the covariance of the sample is singular.
    bool match(const T* x, const T* sample_covariance) {
        if constexpr (Full) {
            if (!decompose(D, sample_covariance, (double*)work)) return false;
            for (Index d = 0; d < D; ++d) {
                const double* from = (double*)work + d * padded_row(D);
                pivots[d] = T(from[d]);
                for (Index e = d + 1; e < D; ++e) factor[d * row + e] = T(from[e]);
            }
        } else {
            for (Index d = 0; d < D; ++d) {
                if (!(sample_covariance[d] > 0)) return false;
                pivots[d] = 1 / sample_covariance[d];
            }
        }
        for (Index lane = 0; lane < lanes; lane += L) {
            V sum = {};
            for (Index d = 0, at = lane; d < D; ++d, at += lanes) {
                V part[4] = {load<S>(centers + at) - x[d]};
                if constexpr (Full) {
                    for_dimensions(d, [&](Index e, Index k) GN_INLINED {
                        part[k] -= factor[e * row + d] * load<S>(columns + e * L);
                    });
                    part[0] = (part[0] + part[1]) + (part[2] + part[3]);
                    store<S>(columns + d * L, part[0]);
                }
                sum += pivots[d] * part[0] * part[0];
            }
            store<S>(gain + lane, exp_of_negative<S>(-sum));
        }
        return true;
    }

    Outcome learn(Rule rule, Index n, Index seen, const T* samples, const T* sample_covariances) {
        const bool adapts = sample_covariances && rule.width_learning_rate > 0;
        if (adapts && n > 0) weigh(samples);
        auto one = [&](Index t) {
            const T* x = samples + t * D;
            const bool repels = (seen + t + 1) % rule.repulsion_every == 0;
            if (rule.learning_rate > 0) {
                const bool weighs = repels && !adapts;
                if (!weighs) respond(x);
                move(rule, x, repels, weighs);
            }
            if (!adapts) return;
            if (rule.learning_rate > 0)
                weigh(x);
            else
                respond(x);
            adapt(rule, x, sample_covariances + t * (Full ? D * D : D));
        };
        for (Index begin = 0; begin < n; begin += samples_between_checks) {
            const Index end = begin + samples_between_checks < n ? begin + samples_between_checks : n;
            save();
            for (Index t = begin; t < end; ++t) one(t);
            if (first_invalid() < 0) continue;
            restore();  // repeat these samples one at a time to find the first invalid state
            if (adapts) weigh(samples);
            for (Index t = begin; t < end; ++t) {
                save();
                one(t);
                const Index neuron = first_invalid();
                if (neuron < 0) continue;
                restore();
                return {t, neuron};
            }
        }
        return {n, -1};
    }

private:
    Shaped(Index K, Index D)
        : K(K),
          D(D),
          lanes(Layer<S>::round_up(K, L)),
          panel(D * lanes),
          row(Layer<S>::round_up(D, L)),
          size(size_of(K, D)),
          room_each(D * row),
          broken(-1) {
        for (Index v = 1; v <= 2; ++v) {
            const Index most = tile_sums / v, tiles = (D + most - 1) / most;
            heights[v - 1] = (D + tiles - 1) / tiles;  // tiles of nearly equal size
        }
    }

    // Give every array its place in the memory, if there is any. Returns how many numbers they take.
    Index place(T* memory) {
        Index used = 0;
        auto take = [&](Index n) {
            T* at = memory ? memory + used : nullptr;
            used += Layer<S>::round_up(n, 64 / sizeof(T));
            return at;
        };
        centers = take(panel);
        saved_centers = take(panel);
        moved = take(Full ? 0 : panel);
        weighted = take(Full ? 0 : panel);
        force = take(Full ? panel : 0);
        rows = take(Full ? lanes * row : 0);
        steps = take(Full ? lanes * row : 0);
        covariances = take(size);
        saved_covariances = take(size);
        inverses = take(Full ? K * room_each : panel);
        columns = take(Full ? 2 * L * D : 0);
        products = take(Full ? at_once * panel : 0);
        forms = take(Full ? at_once * lanes : 0);
        pairs = take(lanes * lanes);
        mirrored = take(Full ? 0 : lanes * lanes);
        equal = take(lanes);
        response = take(lanes);
        gain = take(lanes);
        exists = take(lanes);
        numbers = take(Full ? lanes : 0);
        sample = take(Full ? row : 0);
        column = take(Full ? at_once * row : 0);
        narrowing = take(lanes);
        factor = take(Full ? room_each : 0);
        pivots = take(row);
        work = take(Full ? inverse_workspace(D) * sizeof(double) / sizeof(T) : 0);
        return used;
    }
};

}  // namespace gaussian_neurons::GN_ISA
