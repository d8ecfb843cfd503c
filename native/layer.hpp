// The state of one layer of neurons while it learns.
//
// A vector holds the same dimension of consecutive neurons, one neuron in each lane, so no loop sums across
// lanes. Centers are stored in panels of `block` neurons, or in one narrower panel if all neurons fit into it:
// dimension d of neuron i is `centers[place(i) + d * pitch]`. K is rounded up to whole vectors. Values in the
// padding never affect a neuron.
#pragma once

#include "lanes.hpp"

namespace gaussian_neurons::GN_ISA {

// The squared distance of a neuron from itself: so large that the pair has no weight.
template <class S>
constexpr typename S::number huge = sizeof(typename S::number) == 4 ? 1e37 : 1e300;

// (4 group, lanes) Zeros, but `huge` at row group + k, lane k.
template <class S>
struct Diagonal {
    alignas(64) typename S::number numbers[4 * group * S::lanes] = {};
    constexpr Diagonal() {
        for (Index k = 0; k < S::lanes; ++k) numbers[(group + k) * S::lanes + k] = huge<S>;
    }
};
template <class S>
constexpr Diagonal<S> diagonal{};

template <class S>
struct Layer {
    using T = typename S::number;
    static constexpr Index L = S::lanes;

    Index K, D;
    Index lanes;       // K rounded up to whole vectors
    Index rows;        // K rounded up to whole groups and vectors
    Index pitch;       // distance from one dimension of a panel to the next
    Index numbers;     // size of `centers`, with the padding
    T* centers;        // (panels, D, pitch) mu
    T* moved;          //                    mu after the step; then the two pointers are swapped
    T* pairs;          // (rows, rows)       |mu_i - mu_j|^2, `huge` for i = j; only if widths are learned
    T* weights;        // (2, block, block)  w_ij of a block of pairs and its mirror image; (rows, block) if K fits
    T* widths;         // (lanes,)           sigma, 1 in the padding
    T* inverse;        // (lanes,)           1 / sigma, 0 in the padding
    T* exponent;       // (lanes,)           -log2(e) / sigma: f_i(x) = 2^(exponent_i |mu_i - x|^2)
    T* distance;       // (lanes,)           |mu_i - x|^2
    T* pull;           // (lanes,)           eta f_i(x) / sigma_i
    T* push;           // (lanes,)           sum_j w_ij
    T least_inverse;   // 1 / sigma of the widest neuron
    T least_exponent;  // its exponent
    T* saved_centers;  //                    the state at the last check
    T* saved_widths;   // (lanes,)

    static Index round_up(Index k, Index to) { return (k + to - 1) / to * to; }

    static Index rows_of(Index K) { return round_up(K, L > group ? L : group); }
    static Index numbers_of(Index K, Index D) { return D * (K > block ? round_up(K, block) : round_up(K, L)); }

    static Index weights_of(Index K) { return K > block ? 2 * block * block : round_up(K, group) * block; }

    static Index size(Index K, Index D, bool with_pairs) {
        Index rows = with_pairs ? rows_of(K) : 0;
        return 3 * numbers_of(K, D) + 7 * round_up(K, L) + rows * rows + weights_of(K);
    }

    Layer(Index K, Index D, bool with_pairs, T* work) : Layer(K, D, work) {
        T* end = centers + numbers;
        auto take = [&end](Index n) { T* at = end; end += n; return at; };
        moved = take(numbers);
        pairs = take(with_pairs ? rows * rows : 0);
        widths = take(lanes);
        inverse = take(lanes);
        pull = take(lanes);
        push = take(lanes);
        exponent = take(lanes);
        for (T* at = work; at < end; ++at) *at = 0;  // the rest is written before it is read
        saved_widths = take(lanes);
        saved_centers = take(numbers);
        weights = take(weights_of(K));
    }

    // A layer that only measures samples has no more than its centers and the distances.
    static Index measuring_size(Index K, Index D) { return numbers_of(K, D) + round_up(K, L); }

    static Layer measuring(Index K, Index D, const T* from_centers, T* work) {
        Layer layer(K, D, work);
        for (Index i = 0; i < measuring_size(K, D); ++i) work[i] = 0;
        layer.read_centers(from_centers);
        return layer;
    }

    GN_INLINE Index place(Index i) const { return i + (i & -block) * (D - 1); }

    void read_centers(const T* from) {
        for (Index lane = 0; lane < K; lane += L, from += L * D) {  // in the order in which centers are stored
            const Index count = K - lane < L ? K - lane : L;
            T* to = centers + place(lane);
            for (Index d = 0; d < D; ++d, to += pitch)
                for (Index l = 0; l < count; ++l) to[l] = from[l * D + d];
        }
    }

    void read(const T* from_centers, const T* from_widths) {
        read_centers(from_centers);
        for (Index i = 0; i < lanes; ++i) {
            widths[i] = i < K ? from_widths[i] : 1;
            inverse[i] = 0;
        }
        invert();
    }

    // places: (K,) where each neuron is, or null if neuron i is at place i.
    void write(const int32_t* places, T* to_centers, T* to_widths) const {
        for (Index i = 0; i < K; ++i) {
            const Index at = places ? places[i] : i;
            for (Index d = 0; d < D; ++d) to_centers[i * D + d] = centers[place(at) + d * pitch];
            to_widths[i] = widths[at];
        }
    }

    // Put neuron order[i] at place i, for all i in [0, K). `moved` and `pull` are overwritten.
    void arrange(const int32_t* order) {
        arrange_centers(order, centers);
        arrange_centers(order, saved_centers);
        T* const of_each[] = {widths, inverse, exponent, saved_widths};
        for (T* numbers : of_each) {
            for (Index i = 0; i < K; ++i) pull[i] = numbers[order[i]];
            for (Index i = 0; i < K; ++i) numbers[i] = pull[i];
        }
    }

    void invert() {
        for (Index i = 0; i < K; ++i) {
            inverse[i] = 1 / widths[i];
            exponent[i] = T(-log2_e) * inverse[i];
        }
        least_inverse = inverse[0];
        for (Index i = 1; i < K; ++i) least_inverse = inverse[i] < least_inverse ? inverse[i] : least_inverse;
        least_exponent = T(-log2_e) * least_inverse;
    }

    // Make `moved` the state.
    void step() {
        T* old = centers;
        centers = moved;
        moved = old;
    }

    void save() {
        for (Index i = 0; i < numbers; ++i) saved_centers[i] = centers[i];
        for (Index i = 0; i < lanes; ++i) saved_widths[i] = widths[i];
    }

    void restore() {
        for (Index i = 0; i < numbers; ++i) centers[i] = saved_centers[i];
        for (Index i = 0; i < lanes; ++i) widths[i] = saved_widths[i];
        invert();
    }

    // Whether all numbers of the neurons are finite and all widths positive. If only the padding is not, it
    // is reset.
    bool valid() {
        if (all_finite()) return true;
        if (first_invalid(nullptr) >= 0) return false;
        for (Index d = 0; d < D; ++d)
            for (Index i = K; i < lanes; ++i) centers[place(i) + d * pitch] = 0;
        for (Index i = K; i < lanes; ++i) widths[i] = 1;
        return true;
    }

    bool all_finite() const {  // x - x is 0 for finite numbers only
        typename S::vector sum = {};
        for (Index i = 0; i < numbers; i += L) {
            auto value = load<S>(centers + i);
            sum += value - value;
        }
        for (Index i = 0; i < lanes; i += L) {
            auto value = load<S>(widths + i);
            sum += value - value;
        }
        for (Index k = 0; k < L; ++k)
            if (!(sum[k] == 0)) return false;
        for (Index i = 0; i < K; ++i)
            if (!(widths[i] > 0)) return false;
        return true;
    }

    // places: see write().
    Index first_invalid(const int32_t* places) const {
        for (Index i = 0; i < K; ++i) {
            const Index at = places ? places[i] : i;
            T sum = widths[at] - widths[at];
            for (Index d = 0; d < D; ++d) sum += centers[place(at) + d * pitch] - centers[place(at) + d * pitch];
            if (!(sum == 0) || !(widths[at] > 0)) return i;
        }
        return -1;
    }

private:
    void arrange_centers(const int32_t* order, T* of) {
        for (Index i = 0; i < K; ++i)
            for (Index d = 0; d < D; ++d) moved[place(i) + d * pitch] = of[place(order[i]) + d * pitch];
        for (Index i = 0; i < K; ++i)
            for (Index d = 0; d < D; ++d) of[place(i) + d * pitch] = moved[place(i) + d * pitch];
    }

    Layer(Index K, Index D, T* work)
        : K(K),
          D(D),
          lanes(round_up(K, L)),
          rows(rows_of(K)),
          pitch(K > block ? block : lanes),
          numbers(numbers_of(K, D)),
          centers(work + lanes),
          distance(work) {}
};

}  // namespace gaussian_neurons::GN_ISA
