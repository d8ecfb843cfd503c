// The state of one layer of neurons while it learns, laid out along the lanes.
//
// Center i of dimension d is `centers[d * stride + i]`: one vector holds the same dimension of
// neighbouring neurons, so that no pass over them needs a sum across lanes. `stride` is K rounded up
// to whole vectors; whatever happens in the padding never reaches a neuron.
#pragma once

#include "lanes.hpp"

namespace gaussian_neurons::GN_ISA {

template <class S>
struct Layer {
    using T = typename S::number;
    static constexpr long L = S::lanes;
    static constexpr T huge = sizeof(T) == 4 ? T(1e37) : T(1e300);

    long K, D, stride, rows;  // rows: K rounded up to whole groups
    T* centers;        // (D, stride)      mu
    T* moved;          // (D, stride)      mu after the step; then the two change places
    T* pairs;          // (rows, stride)   |mu_i - mu_j|^2, and `huge` for i = j
    T* weights;        // (rows, stride)   what center j adds to the step of neuron i
    T* diagonal;       // (4 group, L)     zeros, but `huge` at row group + k, lane k
    T* widths;         // (stride,)        sigma, 1 in the padding
    T* inverse;        // (stride,)        1 / sigma, 0 in the padding
    T* distance;       // (stride,)        |mu_i - x|^2
    T* pull;           // (stride,)        eta f_i(x) / sigma_i
    T* push;           // (stride,)        - sum_j weights
    T* saved_centers;  // (D, stride)      the state at the last check
    T* saved_widths;   // (stride,)

    static long round_up(long k, long to) { return (k + to - 1) / to * to; }

    static long size(long K, long D) {
        return (3 * D + 2 * round_up(K, group) + 6) * round_up(K, L) + 4 * group * L;
    }

    Layer(long K, long D, T* work) : Layer(K, D) {
        for (long i = 0; i < size(K, D); ++i) work[i] = 0;
        auto take = [&work](long n) { T* at = work; work += n; return at; };
        measure_only(work);
        work += measuring_size(K, D);
        moved = take(D * stride);
        saved_centers = take(D * stride);
        pairs = take(rows * stride);
        weights = take(rows * stride);
        widths = take(stride);
        inverse = take(stride);
        pull = take(stride);
        push = take(stride);
        saved_widths = take(stride);
        diagonal = take(4 * group * L);
        for (long k = 0; k < L; ++k) diagonal[(group + k) * L + k] = huge;
    }

    // A layer that only measures samples needs its centers and a place for the distances.
    static long measuring_size(long K, long D) { return (D + 1) * round_up(K, L); }

    static Layer measuring(long K, long D, T* work) {
        Layer layer(K, D);
        for (long i = 0; i < measuring_size(K, D); ++i) work[i] = 0;
        layer.measure_only(work);
        return layer;
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

    void swap() {
        T* old = centers;
        centers = moved;
        moved = old;
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

    // Whether every number of the state is finite (x - x is 0 just for those) and every width positive.
    // What is in the padding does not count: where it is all that ran away, it starts again from 0.
    bool valid() {
        if (all_finite()) return true;
        if (first_invalid() >= 0) return false;
        for (long d = 0; d < D; ++d)
            for (long i = K; i < stride; ++i) centers[d * stride + i] = 0;
        for (long i = K; i < stride; ++i) widths[i] = 1;
        return true;
    }

    bool all_finite() const {
        typename S::vector sum = {};
        for (long i = 0; i < D * stride; i += L) {
            auto value = load<S>(centers + i);
            sum += value - value;
        }
        for (long i = 0; i < stride; i += L) {
            auto value = load<S>(widths + i);
            sum += value - value;
        }
        for (long k = 0; k < L; ++k)
            if (!(sum[k] == 0)) return false;
        for (long i = 0; i < K; ++i)
            if (!(widths[i] > 0)) return false;
        return true;
    }

    long first_invalid() const {
        for (long i = 0; i < K; ++i) {
            T sum = widths[i] - widths[i];
            for (long d = 0; d < D; ++d) sum += centers[d * stride + i] - centers[d * stride + i];
            if (!(sum == 0) || !(widths[i] > 0)) return i;
        }
        return -1;
    }

private:
    Layer(long K, long D) : K(K), D(D), stride(round_up(K, L)), rows(round_up(K, group)) {}

    void measure_only(T* work) {
        centers = work;
        distance = work + D * stride;
    }
};

}  // namespace gaussian_neurons::GN_ISA
