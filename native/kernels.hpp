// What one build of the kernels offers, whatever its instruction set: plain pointers, no Python.
#pragma once

#include "index.hpp"

namespace gaussian_neurons {

// The numbers of Equations 1 and 2.
struct Rule {
    double learning_rate;        // eta_mu; 0: centers stay
    double inhibition;           // lambda
    double width_learning_rate;  // eta_sigma; 0: widths stay
    bool equal_widths;           // all K widths are one number (and stay so)
    Index repulsion_every;        // centers repel each other at every so manieth sample, so much stronger
    Index since_repulsion;        // samples since they last did
    bool lists;                  // neurons that are far apart need not meet; the same bits either way
};

struct Outcome {
    Index learned;   // samples learned from
    Index diverged;  // the neuron that sample `learned` would make invalid, or -1
};

template <class T>
struct Kernels {
    // A layer learns in a workspace of so many numbers, 64-byte aligned: put it there, apply the rule to n
    // samples, one at a time, as often as there are more, and fetch what became of it.
    Index (*learn_workspace)(Index K, Index D, bool learns_widths);
    void (*open)(Index K, Index D, bool learns_widths,
                 const T* centers,  // IN   (K, D)
                 const T* widths,   // IN   (K,)
                 T* work);          // OUT
    Outcome (*learn)(Rule rule, Index n,
                     const T* samples,        // IN     (n, D)
                     const T* sample_widths,  // IN     (n,): sigma_x, where widths are learned
                     T* work);                // INOUT
    void (*write)(T* work,     // IN
                  T* centers,  // OUT  (K, D)
                  T* widths);  // OUT  (K,)
    Index (*distances_workspace)(Index K, Index D);
    // Squared distances from each of n samples to each of K centers.
    void (*distances)(Index K, Index D, Index n,
                      const T* samples,  // IN   (n, D)
                      const T* centers,  // IN   (K, D)
                      T* out,            // OUT  (n, K)
                      T* work);          // SCRATCH
    // For the benchmark: multiply-adds, and exponentials, that this core completes in `rounds` rounds.
    double (*multiply_adds)(Index rounds);
    double (*exponentials)(Index rounds);
    Index lanes;
    Index group;
};

}  // namespace gaussian_neurons
