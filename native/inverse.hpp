// The Cholesky decomposition L diag(p) L^T of a covariance, with 1 on the diagonal of L, and its inverse. Both are
// computed in double precision.
#pragma once

#include "lanes.hpp"

namespace gaussian_neurons::GN_ISA {

constexpr double smallest_pivot = 0x1p-40;  // of a regular covariance, as a part of its variance

inline Index padded_row(Index D) { return (D + Double::lanes - 1) / Double::lanes * Double::lanes; }
inline Index inverse_workspace(Index D) { return 2 * D * padded_row(D); }  // doubles, 64-byte aligned

// Row k of `work` becomes 1 / p_k, then column k of L. Returns false if the matrix is not positive definite.
template <class T>
bool decompose(Index D, const T* matrix, double* work) {
    constexpr Index L = Double::lanes;
    const Index row = padded_row(D);
    for (Index i = 0; i < D; ++i) {
        for (Index j = 0; j < D; ++j) work[i * row + j] = double(matrix[i * D + j]);
        for (Index j = D; j < row; ++j) work[i * row + j] = 0;
    }
    for (Index k = 0; k < D; ++k) {
        double* from = work + k * row;
        const double pivot = from[k];
        if (!(pivot > smallest_pivot * double(matrix[k * D + k])) || !(pivot < __builtin_inf())) return false;
        const double inverse = 1 / pivot;
        for (Index i = k + 1; i < D; ++i) {
            const double factor = from[i] * inverse;
            double* to = work + i * row;
            for (Index j = i / L * L; j < row; j += L)
                store<Double>(to + j, load<Double>(to + j) - factor * load<Double>(from + j));
        }
        for (Index j = k / L * L; j < row; j += L) store<Double>(from + j, load<Double>(from + j) * inverse);
        from[k] = inverse;
    }
    return true;
}

// The row i of the inverse P from the rows below it: P_ij = -sum_{k > i} L_ki P_kj for j > i, in some vectors.
template <Index Vectors>
GN_INLINE void row_of_inverse(Index D, Index i, const double* factor, Index row, double* inverse) {
    constexpr Index L = Double::lanes;
    typename Double::vector sum[2][Vectors] = {};
    Index k = D - 1;
    for (; k > i + 1; k -= 2)
        GN_UNROLL
        for (Index part = 0; part < 2; ++part)
            GN_UNROLL
            for (Index v = 0; v < Vectors; ++v)
                sum[part][v] -= factor[k - part] * load<Double>(inverse + (k - part) * row + v * L);
    GN_UNROLL
    for (Index v = 0; v < Vectors; ++v) {
        if (k > i) sum[0][v] -= factor[k] * load<Double>(inverse + k * row + v * L);
        store<Double>(inverse + i * row + v * L, sum[0][v] + sum[1][v]);
    }
}

// Returns false, and leaves `out` as it is, if the matrix is not positive definite. The inverse is exactly
// symmetric; its rows are `pitch` apart.
template <class T>
bool invert(Index D, const T* matrix, T* out, Index pitch, double* work) {
    constexpr Index L = Double::lanes;
    const Index row = padded_row(D);
    if (!decompose(D, matrix, work)) return false;
    double* inverse = work + D * row;
    for (Index k = 0; k < D * row; ++k) inverse[k] = 0;
    for (Index i = D - 1; i >= 0; --i) {
        const double* factor = work + i * row;
        double* here = inverse + i * row;
        Index j = i / L * L;
        for (; j + 4 * L <= row; j += 4 * L) row_of_inverse<4>(D, i, factor, row, inverse + j);
        for (; j + 2 * L <= row; j += 2 * L) row_of_inverse<2>(D, i, factor, row, inverse + j);
        for (; j < row; j += L) row_of_inverse<1>(D, i, factor, row, inverse + j);
        typename Double::vector sum = {};  // of L_ki P_ki: numbers up to i are 0 in this row
        for (j = i / L * L; j < row; j += L) sum += load<Double>(factor + j) * load<Double>(here + j);
        double diagonal = factor[i];
        for (Index k = 0; k < L; ++k) diagonal -= sum[k];
        here[i] = diagonal;
        for (Index k = i + 1; k < D; ++k) inverse[k * row + i] = here[k];
    }
    for (Index i = 0; i < D; ++i)
        for (Index j = 0; j < D; ++j) out[i * pitch + j] = T(inverse[i * row + j]);
    return true;
}

}  // namespace gaussian_neurons::GN_ISA
