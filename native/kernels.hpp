// What one build of the kernels offers, whatever its instruction set: plain pointers, no Python.
#pragma once

namespace gaussian_neurons {

// The numbers of Equations 1 and 2.
struct Rule {
    double learning_rate;        // eta_mu; 0: centers stay
    double inhibition;           // lambda
    double width_learning_rate;  // eta_sigma; 0: widths stay
    bool equal_widths;           // all K widths are one number (and stay so)
    long repulsion_every;        // centers repel each other at every so manieth sample, so much stronger
    long since_repulsion;        // samples since they last did
};

struct Outcome {
    long learned;   // samples learned from
    long diverged;  // the neuron that sample `learned` would make invalid, or -1
};

template <class T>
struct Kernels {
    // Numbers of scratch space that learn, and distances, need, 64-byte aligned.
    long (*learn_workspace)(long K, long D, bool with_pairs);
    long (*distances_workspace)(long K, long D);
    // Apply the rule to n samples, one at a time.
    Outcome (*learn)(Rule rule, long K, long D, long n,
                     const T* samples,        // IN     (n, D)
                     const T* sample_widths,  // IN     (n,) or null: sigma_x
                     T* centers,              // INOUT  (K, D)
                     T* widths,               // INOUT  (K,)
                     T* work);                // SCRATCH
    // Squared distances from each of n samples to each of K centers.
    void (*distances)(long K, long D, long n,
                      const T* samples,  // IN   (n, D)
                      const T* centers,  // IN   (K, D)
                      T* out,            // OUT  (n, K)
                      T* work);          // SCRATCH
    // For the benchmark: multiply-adds, and exponentials, that this core completes in `rounds` rounds.
    double (*multiply_adds)(long rounds);
    double (*exponentials)(long rounds);
    long lanes;
    long group;
};

}  // namespace gaussian_neurons
