// The inverse of a covariance, in double precision, by Gauss-Jordan elimination without pivoting, which is stable
// for positive definite matrices. The pivots are those of the Cholesky decomposition.
#pragma once

#include "lanes.hpp"

namespace gaussian_neurons::GN_ISA {

constexpr double smallest_pivot = 0x1p-40;  // of a regular covariance, as a part of its variance

inline Index padded_row(Index D) { return (D + Double::lanes - 1) / Double::lanes * Double::lanes; }
inline Index inverse_workspace(Index D) { return D * padded_row(D); }  // doubles, 64-byte aligned

// Returns false, and leaves `out` as it is, if the matrix is not positive definite. The inverse is exactly
// symmetric; its rows are `pitch` apart.
template <class T>
bool invert(Index D, const T* matrix, T* out, Index pitch, double* work) {
    const Index row = padded_row(D);
    for (Index i = 0; i < D; ++i) {
        for (Index j = 0; j < D; ++j) work[i * row + j] = matrix[i * D + j];
        for (Index j = D; j < row; ++j) work[i * row + j] = 0;
    }
    for (Index k = 0; k < D; ++k) {
        double* pivots = work + k * row;
        const double pivot = pivots[k];
        if (!(pivot > smallest_pivot * double(matrix[k * D + k])) || !(pivot < __builtin_inf())) return false;
        const double inverse = 1 / pivot;
        for (Index j = 0; j < row; j += Double::lanes) store<Double>(pivots + j, load<Double>(pivots + j) * inverse);
        for (Index i = 0; i < D; ++i) {
            double* other = work + i * row;
            const double factor = other[k];
            if (i == k) continue;
            for (Index j = 0; j < row; j += Double::lanes)
                store<Double>(other + j, load<Double>(other + j) - factor * load<Double>(pivots + j));
            other[k] = -factor * inverse;  // after the vectors: a load right after a shorter store is slow
        }
        pivots[k] = inverse;
    }
    for (Index i = 0; i < D; ++i)
        for (Index j = 0; j <= i; ++j) out[i * pitch + j] = out[j * pitch + i] = T(work[i * row + j]);
    return true;
}

}  // namespace gaussian_neurons::GN_ISA
