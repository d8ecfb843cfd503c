// The samplers that are compiled once for each instruction set. All of them give the same bits.
#pragma once

#include <stdint.h>

#include "index.hpp"

namespace gaussian_neurons {

// What a random number is used for: the last word of its counter.
enum Purpose : uint32_t { place = 0, noise = 1, shuffle = 2, synthetic = 3 };

struct Images {
    const void* pixels;  // (n, height, width, channels), uint8_t scaled by 1/255, or float as they are
    bool is_float;
    Index n, height, width, channels;
    const int64_t* chosen;  // (n_chosen,) the images to draw from, or null for all
    Index n_chosen;
};

using Neighbourhoods = void (*)(const Images& images, Index size, float noise, uint64_t seed, uint64_t first,
                                Index n,
                                float* means,   // OUT (n, D) with D = size * size * channels
                                float* widths,  // OUT (n,), (n, D) or (n, D, D)
                                float* work);   // SCRATCH

struct Samplers {
    // Random words of samples [first, first + n): word k is word k mod 4 of Philox block k / 4.
    void (*words)(uint64_t seed, uint32_t purpose, uint64_t first, Index n, Index per_sample,
                  uint32_t* out);  // OUT (n, per_sample)
    // Normal numbers of samples [first, first + n).
    Index (*normals_workspace)(Index per_sample);
    void (*normals)(uint64_t seed, uint32_t purpose, uint64_t first, Index n, Index per_sample,
                    float* out,    // OUT (n, per_sample)
                    float* work);  // SCRATCH
    // Patches at uniformly random places of uniformly random images.
    void (*patches_single)(const Images& images, Index size, uint64_t seed, uint64_t first, Index n,
                           float* out);  // OUT (n, size * size * channels)
    void (*patches_double)(const Images& images, Index size, uint64_t seed, uint64_t first, Index n,
                           double* out);
    // Mean and width, diagonal covariance or covariance of nine neighbouring patches, with noise on every pixel of
    // each.
    Index (*neighbourhoods_workspace)(Index size, Index channels);
    Neighbourhoods neighbourhoods[3];
};

}  // namespace gaussian_neurons
