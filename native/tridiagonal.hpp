// Reduction of a symmetric matrix to a tridiagonal one with the same eigenvalues (Householder 1958).
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace gaussian_neurons {

// INOUT matrix: (n, n), symmetric; destroyed. OUT diagonal: (n,). OUT off_diagonal: (n - 1,), next to the diagonal.
inline void tridiagonal(int64_t n, double* matrix, double* diagonal, double* off_diagonal) {
    std::vector<double> reflected(n), product(n);
    double* v = reflected.data();
    double* p = product.data();
    for (int64_t k = 0; k + 1 < n; ++k) {
        diagonal[k] = matrix[k * n + k];
        double length = 0;
        for (int64_t j = k + 1; j < n; ++j) length += matrix[k * n + j] * matrix[k * n + j];
        const double first = matrix[k * n + k + 1];
        const double alpha = -std::copysign(std::sqrt(length), first);
        off_diagonal[k] = alpha;
        const double norm = length - alpha * first;  // v'v / 2
        if (!(norm > 0)) continue;
        for (int64_t j = k + 1; j < n; ++j) v[j] = matrix[k * n + j], p[j] = 0;
        v[k + 1] -= alpha;
        for (int64_t i = k + 1; i < n; ++i) {  // p = A v / norm
            const double scaled = v[i] / norm;
            for (int64_t j = k + 1; j < n; ++j) p[j] += scaled * matrix[i * n + j];
        }
        double along = 0;
        for (int64_t j = k + 1; j < n; ++j) along += p[j] * v[j];
        const double half = along / (2 * norm);
        for (int64_t j = k + 1; j < n; ++j) p[j] -= half * v[j];
        for (int64_t i = k + 1; i < n; ++i)  // A - v p' - p v'
            for (int64_t j = k + 1; j < n; ++j) matrix[i * n + j] -= v[i] * p[j] + p[i] * v[j];
    }
    if (n) diagonal[n - 1] = matrix[n * n - 1];
}

}  // namespace gaussian_neurons
