// The learning rule for neurons with a covariance each, diagonal or full: equations [16] to [18] of
// docs/algorithm.md.
//
//     mu_i += eta f_i(x) P_i (x - mu_i) - eta lambda sum_j (f_i(mu_j) P_i + f_j(mu_i) P_j) (mu_j - mu_i)
//
// where P_i is the inverse of Sigma_i. A vector holds the same dimension of consecutive neurons, one in each
// lane, as in layer.hpp, but in one panel: covariances need far more memory than centers. Padding lanes have
// centers 0 and never affect a neuron.
#pragma once

#include "inverse.hpp"
#include "kernels.hpp"
#include "measuring.hpp"

namespace gaussian_neurons::GN_ISA {

constexpr Index tile_rows = GN_VECTOR_REGISTERS * 3 / 4;  // sums that fit into registers

// The rows [first, first + Rows) of M C for a symmetric matrix M and one vector of the columns of C. Returns their
// part of the quadratic forms c^T M c.
template <class S, Index Rows>
GN_APART typename S::vector multiply_tile(Index D, Index first, const typename S::number* matrix, Index row,
                                          const typename S::number* columns, Index pitch,
                                          typename S::number* out) {
    typename S::vector sum[Rows] = {}, form = {};
    const auto *from = matrix + first, *column = columns;
    for (Index e = 0; e < D; ++e, from += row, column += pitch) {
        auto value = load<S>(column);
        GN_UNROLL
        for (Index d = 0; d < Rows; ++d) sum[d] += from[d] * value;
    }
    columns += first * pitch;
    out += first * pitch;
    GN_UNROLL
    for (Index d = 0; d < Rows; ++d) {
        form += load<S>(columns + d * pitch) * sum[d];
        store<S>(out + d * pitch, sum[d]);
    }
    return form;
}

template <class S, Index Rows>
GN_INLINE typename S::vector multiply_rows(Index rows, Index D, Index first, const typename S::number* matrix,
                                           Index row, const typename S::number* columns, Index pitch,
                                           typename S::number* out) {
    if constexpr (Rows > 1)
        if (rows < Rows) return multiply_rows<S, Rows - 1>(rows, D, first, matrix, row, columns, pitch, out);
    return multiply_tile<S, Rows>(D, first, matrix, row, columns, pitch, out);
}

// M C for a symmetric matrix M, its rows `row` apart, and one vector of the columns of C, (D, pitch). Returns the
// quadratic forms c^T M c.
template <class S>
GN_INLINE typename S::vector multiply(Index D, const typename S::number* matrix, Index row,
                                      const typename S::number* columns, Index pitch, typename S::number* out) {
    typename S::vector form = {};
    const Index tiles = (D + tile_rows - 1) / tile_rows;
    for (Index t = 0; t < tiles; ++t) {
        const Index first = t * D / tiles, end = (t + 1) * D / tiles;
        form += multiply_rows<S, tile_rows>(end - first, D, first, matrix, row, columns, pitch, out);
    }
    return form;
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

    Index K, D;
    Index lanes;      // K rounded up to whole vectors
    Index panel;      // D * lanes
    Index row;        // full: D rounded up to whole vectors, from one row of an inverse to the next
    Index size;       // of all covariances
    Index room_each;  // of one inverse
    Index broken;     // the first neuron whose covariance has no inverse, or -1
    T* centers;       // (D, lanes)
    T* moved;         // (D, lanes)
    T* covariances;   // (D, lanes) or (K, D, D)
    T* inverses;      // (D, lanes) or (K, D, row)
    T* weighted;      // (D, lanes)      diagonal: P_j mu_j; full: differences of one neuron
    T* products;      // (D, lanes)      full: P_i times the differences
    T* force;         // (D, lanes)      full: sum_j f_j(mu_i) P_j (mu_i - mu_j)
    T* pairs;         // (lanes, lanes)  f_i(mu_j) at row j, lane i (diagonal) or row i, lane j (full); 0 if equal
    T* mirrored;      // (lanes, lanes)  transposed
    T* equal;         // (lanes,)        how many other neurons are at the same place
    T* response;      // (lanes,)        f_i(x)
    T* gain;          // (lanes,)        [18]: f_x(mu_i), then the factor of Sigma_x - Sigma_i
    T* exists;        // (lanes,)        1 for neurons, 0 in the padding
    T* column;        // (D,)            full: what P_i is applied to, with 0 up to a whole vector
    T* applied;       // (D,)            full: the result
    T* own;           // (D, row)        full: the inverse of the sample's covariance
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
            for (Index i = 0; i < K; ++i) {
                for (Index d = 0; d < D; ++d) column[d] = x[d] - centers[d * lanes + i];
                apply(inverse_of(i), column, applied);
                V sum = {};
                for (Index d = 0; d < D; d += L) sum += load<S>(column + d) * load<S>(applied + d);
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

    // The responses of neurons to each other's centers: pairs, mirrored and the force. Neurons at the same place are
    // counted apart. They do not push each other, and stay together to the last bit: sums over j have the same
    // numbers in the same order for both.
    void weigh() {
        for (Index lane = 0; lane < lanes; ++lane) equal[lane] = -1;  // a neuron itself does not count
        for (Index k = 0; Full && k < panel; ++k) force[k] = 0;
        for (Index i = 0; Full && i < K; ++i) weigh_full(i);
        for (Index lane = 0; !Full && lane < lanes; lane += L) {
            Index j = 0;
            for (; j + group <= K; j += group) weigh_diagonal<group>(j, lane);
            for (; j < K; ++j) weigh_diagonal<1>(j, lane);
        }
        for (Index i = 0; i < lanes; i += L)
            for (Index j = 0; j < lanes; j += L) {
                V square[L];
                GN_UNROLL
                for (Index k = 0; k < L; ++k) square[k] = load<S>(pairs + (i + k) * lanes + j);
                transpose<S>(square);
                GN_UNROLL
                for (Index k = 0; k < L; ++k) store<S>(mirrored + (j + k) * lanes + i, square[k]);
            }
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

    // f_i(mu_j) for one neuron i and all neurons j, and its part of the force on them.
    void weigh_full(Index i) {
        for (Index lane = 0; lane < lanes; lane += L) {
            for (Index d = 0, at = lane; d < D; ++d, at += lanes)
                store<S>(weighted + at, load<S>(centers + at) - centers[d * lanes + i]);
            V form = multiply<S>(D, inverse_of(i), row, weighted + lane, lanes, products + lane);
            V response = apart(form, exp_of_negative<S>(-form) * load<S>(exists + lane));
            count_equal(form, lane);
            store<S>(pairs + i * lanes + lane, response);
            for (Index d = 0, at = lane; d < D; ++d, at += lanes)
                store<S>(force + at, load<S>(force + at) + response * load<S>(products + at));
        }
    }

    // [17], given f_i(x) and, if centers repel each other, weigh().
    void move(Rule rule, const T* x, bool repels) {
        const T rate = T(rule.learning_rate);
        const T push = repels ? T(rule.learning_rate * rule.inhibition * double(rule.repulsion_every)) : T(0);
        if constexpr (Full)
            move_full(rate, push, x);
        else
            move_diagonal(rate, push, x);
        T* old = centers;
        centers = moved;
        moved = old;
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

    // P_i is applied once, to the sum of the attraction and of the part of the repulsion that has it.
    void move_full(T rate, T push, const T* x) {
        for (Index lane = 0; lane < lanes; lane += L) {
            V pushed = {};
            for (Index j = 0; push > 0 && j < K; ++j) pushed += load<S>(mirrored + j * lanes + lane);
            Index d = 0;
            for (; d + 8 <= D; d += 8) gather<8>(rate, push, x, lane, d, pushed);
            for (; d < D; ++d) gather<1>(rate, push, x, lane, d, pushed);
        }
        for (Index i = 0; i < K; ++i) {
            for (Index d = 0; d < D; ++d) column[d] = weighted[d * lanes + i];
            apply(inverse_of(i), column, applied);
            for (Index d = 0; d < D; ++d) {
                const Index at = d * lanes + i;
                moved[at] = centers[at] + (push > 0 ? applied[d] + push * force[at] : applied[d]);
            }
        }
    }

    // weighted_i = eta f_i(x) (x - mu_i) - eta lambda sum_j f_i(mu_j) (mu_j - mu_i)
    template <Index Dims>
    GN_INLINE void gather(T rate, T push, const T* x, Index lane, Index dim, V pushed) {
        V sum[Dims] = {};
        for (Index j = 0; push > 0 && j < K; ++j) {
            V mine = load<S>(mirrored + j * lanes + lane);
            GN_UNROLL
            for (Index d = 0; d < Dims; ++d) sum[d] += mine * centers[(dim + d) * lanes + j];
        }
        V pull = rate * load<S>(response + lane);
        GN_UNROLL
        for (Index d = 0; d < Dims; ++d) {
            const Index at = (dim + d) * lanes + lane;
            V here = load<S>(centers + at);
            store<S>(weighted + at, pull * (x[dim + d] - here) - push * (sum[d] - pushed * here));
        }
    }

    // A symmetric matrix times a column; `out` is filled up with 0 to a whole vector.
    void apply(const T* matrix, const T* column, T* out) const {
        for (Index d = 0; d < D; d += L) {
            V sum[4] = {};
            Index e = 0;
            for (; e + 4 <= D; e += 4)
                GN_UNROLL
                for (Index k = 0; k < 4; ++k) sum[k] += column[e + k] * load<S>(matrix + (e + k) * row + d);
            for (; e < D; ++e) sum[0] += column[e] * load<S>(matrix + e * row + d);
            store<S>(out + d, (sum[0] + sum[1]) + (sum[2] + sum[3]));
        }
    }

    // [18], given f_i(x) and weigh() after the step of the centers. The pairs are then those of the new state.
    void adapt(Rule rule, const T* x, const T* sample_covariance) {
        if (!match(x, sample_covariance)) return;
        bool changed = false;
        for (Index lane = 0; lane < lanes; lane += L) {
            V sum = {};
            for (Index j = 0; j < K; ++j) sum += load<S>((Full ? pairs : mirrored) + j * lanes + lane);
            sum += load<S>(equal + lane);
            V freedom = larger<S>(load<S>(gain + lane) - T(2 * rule.inhibition) * sum, V{});
            store<S>(gain + lane, T(rule.width_learning_rate) * freedom * load<S>(response + lane));
        }
        for (Index i = 0; i < K; ++i) {
            const T part = gain[i];
            if (part == 0) continue;
            if constexpr (Full) {
                T* mine = covariances + i * D * D;
                for (Index k = 0; k < D * D; ++k) mine[k] += part * (sample_covariance[k] - mine[k]);
            } else {
                for (Index d = 0; d < D; ++d)
                    covariances[d * lanes + i] += part * (sample_covariance[d] - covariances[d * lanes + i]);
            }
            invert_one(i);
            changed = true;
        }
        if (changed) weigh();
    }

    // gain_i = f_x(mu_i); false if the covariance of the sample is singular.
    bool match(const T* x, const T* sample_covariance) {
        if constexpr (Full) {
            if (!invert(D, sample_covariance, own, row, (double*)work)) return false;
        } else {
            for (Index d = 0; d < D; ++d)
                if (!(sample_covariance[d] > 0)) return false;
        }
        for (Index lane = 0; lane < lanes; lane += L) {
            V sum = {};
            if constexpr (Full) {
                for (Index d = 0, at = lane; d < D; ++d, at += lanes)
                    store<S>(weighted + at, load<S>(centers + at) - x[d]);
                sum = multiply<S>(D, own, row, weighted + lane, lanes, products + lane);
            } else {
                for (Index d = 0, at = lane; d < D; ++d, at += lanes) {
                    V difference = load<S>(centers + at) - x[d];
                    sum += difference * difference / sample_covariance[d];
                }
            }
            store<S>(gain + lane, exp_of_negative<S>(-sum));
        }
        return true;
    }

    Outcome learn(Rule rule, Index n, Index seen, const T* samples, const T* sample_covariances) {
        const bool adapts = sample_covariances && rule.width_learning_rate > 0;
        if (adapts) weigh();
        auto one = [&](Index t) {
            const T* x = samples + t * D;
            const bool repels = (seen + t + 1) % rule.repulsion_every == 0;
            if (rule.learning_rate > 0) {
                respond(x);
                if (repels && !adapts) weigh();
                move(rule, x, repels);
            }
            if (!adapts) return;
            respond(x);
            if (rule.learning_rate > 0) weigh();
            adapt(rule, x, sample_covariances + t * (Full ? D * D : D));
        };
        for (Index begin = 0; begin < n; begin += samples_between_checks) {
            const Index end = begin + samples_between_checks < n ? begin + samples_between_checks : n;
            save();
            for (Index t = begin; t < end; ++t) one(t);
            if (first_invalid() < 0) continue;
            restore();  // repeat these samples one at a time to find the first invalid state
            if (adapts) weigh();
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
          broken(-1) {}

    // Give every array its place in the memory, if there is any. Returns how many numbers they take.
    Index place(T* memory) {
        Index used = 0;
        auto take = [&](Index n) {
            T* at = memory ? memory + used : nullptr;
            used += Layer<S>::round_up(n, 64 / sizeof(T));
            return at;
        };
        centers = take(panel);
        moved = take(panel);
        weighted = take(panel);
        force = take(panel);
        saved_centers = take(panel);
        covariances = take(size);
        saved_covariances = take(size);
        inverses = take(Full ? K * room_each : panel);
        products = take(Full ? panel : 0);
        pairs = take(lanes * lanes);
        mirrored = take(lanes * lanes);
        equal = take(lanes);
        response = take(lanes);
        gain = take(lanes);
        exists = take(lanes);
        column = take(row);
        applied = take(row);
        own = take(Full ? room_each : 0);
        work = take(Full ? inverse_workspace(D) * sizeof(double) / sizeof(T) : 0);
        return used;
    }
};

}  // namespace gaussian_neurons::GN_ISA
