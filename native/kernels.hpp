// The functions that are compiled once for each instruction set: plain pointers, no Python.
#pragma once

#include <stdint.h>

#include "index.hpp"

namespace gaussian_neurons {

// The numbers of Equations 1 and 2.
struct Rule {
    double learning_rate;        // eta_mu; 0: centers stay
    double inhibition;           // lambda
    double width_learning_rate;  // eta_sigma
    Index repulsion_every;       // r: centers repel each other at every r-th sample, r times as strong
};

// What a neuron has: a width, a diagonal covariance (D numbers) or a full one (D * D numbers).
enum class Shape { round, diagonal, full };

// What a session needs memory for.
struct Setup {
    Index K, D;
    Shape shape;
    bool learns_widths;  // every sample has a width, and neurons learn from it
    bool lists;          // may use neighbour lists: faster for neurons that are far apart, same bits
};

// Numbers of the width or covariance of a neuron or a sample.
inline Index numbers_of(Shape shape, Index D) {
    return shape == Shape::full ? D * D : shape == Shape::diagonal ? D : 1;
}

constexpr Index samples_between_checks = 64;  // for finite numbers

struct Outcome {
    Index learned;   // number of samples learned
    Index diverged;  // the neuron that sample `learned` would make invalid, or -1
};

template <class T>
struct Kernels {
    // A session holds one layer while it learns. Its memory `work` has learn_workspace() numbers, 64-byte
    // aligned. open() reads the layer, learn() applies the rule to n samples, write() stores the layer.
    Index (*learn_workspace)(const Setup& setup);
    void (*open)(const Setup& setup,
                 const T* centers,  // IN   (K, D)
                 const T* widths,   // IN   (K,), (K, D) or (K, D, D)
                 T* work);          // OUT
    Outcome (*learn)(const Setup& setup, const Rule& rule, Index n,
                     Index seen,              // number of samples learned before these
                     const T* samples,        // IN     (n, D)
                     const T* sample_widths,  // IN     (n,), (n, D) or (n, D, D); read only if widths are learned
                     T* work);                // INOUT
    void (*write)(const Setup& setup,
                  const T* work,  // IN
                  T* centers,     // OUT  (K, D)
                  T* widths);     // OUT  (K,), (K, D) or (K, D, D)

    // Neurons that share n samples; `work` has shares_workspace() numbers, aligned as above.
    Index (*shares_workspace)(Index K, Index D);
    void (*learn_shares)(Index K, Index D, Index n, double rate, double least_width,
                         double reach,         // largest |x - mu|^2 / sigma of a winner from which neurons learn
                         const T* samples,     // IN     (n, D)
                         const bool* resting,  // IN     (K,)  neurons that keep their center and width
                         T* centers,           // INOUT  (K, D)
                         T* widths,            // INOUT  (K,)
                         double* totals,       // INOUT  (K,)  sum of the shares
                         T* work);             // SCRATCH

    // |x - mu_i|^2 for n samples and K centers; `work` as above, with measure_workspace() numbers.
    Index (*measure_workspace)(Index K, Index D, Index n);
    void (*distances)(Index K, Index D, Index n,
                      const T* samples,  // IN   (n, D)
                      const T* centers,  // IN   (K, D)
                      T* out,            // OUT  (n, K)
                      T* work);          // SCRATCH
    // (x - mu_i)^T Sigma_i^-1 (x - mu_i) for n samples and K neurons with covariances; `work` as for learning.
    // False if a covariance has no inverse.
    bool (*forms)(const Setup& setup, Index n,
                  const T* samples,      // IN   (n, D)
                  const T* centers,      // IN   (K, D)
                  const T* covariances,  // IN   (K, D) or (K, D, D)
                  T* out,                // OUT  (n, K)
                  T* work);              // SCRATCH
    // For each sample the neuron with the largest -|x - mu_i|^2 / sigma_i - offset_i, the first one if several are
    // equal, and its -|x - mu_i|^2 / sigma_i.
    void (*strongest)(Index K, Index D, Index n,
                      const T* samples,  // IN   (n, D)
                      const T* centers,  // IN   (K, D)
                      const T* widths,   // IN   (K,)
                      const T* offsets,  // IN   (K,)
                      int64_t* winner,   // OUT  (n,)  the neuron
                      T* log_response,   // OUT  (n,)  its log-response
                      T* work);          // SCRATCH
};

}  // namespace gaussian_neurons
