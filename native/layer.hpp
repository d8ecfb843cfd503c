// The state of one layer of neurons while it learns, laid out along the lanes.
//
// Center i of dimension d is `centers[d * stride + i]`: one vector holds the same dimension of
// neighbouring neurons, so that no pass over them needs a sum across lanes. `stride` is K rounded up
// to whole vectors; what is in the padding never moves and never reaches a neuron.
#pragma once

#include "lanes.hpp"

namespace gaussian_neurons::GN_ISA {

constexpr long block = GN_VECTOR_REGISTERS / 2;  // neurons in a block of pairs: a tile's accumulators

template <class S>
struct Layer {
    using T = typename S::number;
    static constexpr long L = S::lanes;
    static constexpr T huge = sizeof(T) == 4 ? T(1e37) : T(1e300);

    long K, D, stride;
    T* centers;        // (D, stride)   mu
    T* offsets;        // (D, stride)   y = mu - x
    T* pairs;          // (K, stride)   |mu_i - mu_j|^2, and `huge` for i = j
    T* weights;        // (K, stride)   what neuron j adds to the step of neuron i, 0 for i = j
    T* diagonal;       // (2 block, L)  zeros, but `huge` at row block + k, lane k
    T* widths;         // (stride,)     sigma, 1 in the padding
    T* inverse;        // (stride,)     1 / sigma, 0 in the padding
    T* distance;       // (stride,)     |mu_i - x|^2
    T* own;            // (stride,)     what a neuron's own offset adds to its step
    T* saved_centers;  // (D, stride)   the state at the last check
    T* saved_widths;   // (stride,)

    static long round_up(long k) { return (k + L - 1) / L * L; }

    static long size(long K, long D) {
        return (3 * D + 2 * K + 5) * round_up(K) + 2 * block * L;
    }

    Layer(long K, long D, T* work) : K(K), D(D), stride(round_up(K)) {
        for (long i = 0; i < size(K, D); ++i) work[i] = 0;
        auto take = [&work](long n) { T* at = work; work += n; return at; };
        centers = take(D * stride);
        offsets = take(D * stride);
        saved_centers = take(D * stride);
        pairs = take(K * stride);
        weights = take(K * stride);
        widths = take(stride);
        inverse = take(stride);
        distance = take(stride);
        own = take(stride);
        saved_widths = take(stride);
        diagonal = take(2 * block * L);
        for (long k = 0; k < L; ++k) diagonal[(block + k) * L + k] = huge;
    }

    void read_centers(const T* from) {
        for (long i = 0; i < K; ++i)
            for (long d = 0; d < D; ++d) centers[d * stride + i] = from[i * D + d];
    }

    void read(const T* from_centers, const T* from_widths) {
        read_centers(from_centers);
        for (long i = 0; i < stride; ++i) {
            widths[i] = i < K ? from_widths[i] : 1;
            inverse[i] = i < K ? 1 / widths[i] : 0;
        }
    }

    void write(T* to_centers, T* to_widths) const {
        for (long i = 0; i < K; ++i) {
            for (long d = 0; d < D; ++d) to_centers[i * D + d] = centers[d * stride + i];
            to_widths[i] = widths[i];
        }
    }

    void save() {
        for (long i = 0; i < D * stride; ++i) saved_centers[i] = centers[i];
        for (long i = 0; i < stride; ++i) saved_widths[i] = widths[i];
    }

    void restore() {
        for (long i = 0; i < D * stride; ++i) centers[i] = saved_centers[i];
        for (long i = 0; i < stride; ++i) {
            widths[i] = saved_widths[i];
            inverse[i] = i < K ? 1 / widths[i] : 0;
        }
    }

    // Whether every number of the state is finite: x - x is 0 just for those.
    bool finite() const {
        T sum = 0;
        for (long i = 0; i < D * stride; ++i) sum += centers[i] - centers[i];
        for (long i = 0; i < stride; ++i) sum += widths[i] - widths[i];
        return sum == 0;
    }

    long first_not_finite() const {
        for (long i = 0; i < K; ++i) {
            T sum = widths[i] - widths[i];
            for (long d = 0; d < D; ++d) sum += centers[d * stride + i] - centers[d * stride + i];
            if (!(sum == 0)) return i;
        }
        return -1;
    }
};

}  // namespace gaussian_neurons::GN_ISA
