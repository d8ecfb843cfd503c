// The samplers of one instruction set. This file is compiled once for each (GN_ISA), without contraction of
// a * b + c, so that all of them give the same bits.
#include "patches.hpp"

namespace gaussian_neurons::GN_ISA {

void words(uint64_t seed, uint32_t purpose, uint64_t first, Index n, Index per_sample, uint32_t* out) {
    for (Index t = 0; t < n; t += lanes)
        for (Index block = 0; 4 * block < per_sample; ++block) {
            Block drawn = blocks_of_samples(seed, purpose, first + t, uint32_t(block));
            for (Index l = 0; l < lanes && t + l < n; ++l)
                for (Index c = 0; c < 4 && 4 * block + c < per_sample; ++c)
                    out[(t + l) * per_sample + 4 * block + c] = drawn.word[c][l];
        }
}

Index groups_for(Index per_sample) { return rounded_up(per_sample, group_numbers) / group_numbers; }

Index normals_workspace(Index per_sample) { return groups_for(per_sample) * group_numbers; }

void normals(uint64_t seed, uint32_t purpose, uint64_t first, Index n, Index per_sample, float* out,
             float* work) {
    for (Index t = 0; t < n; ++t, out += per_sample) {
        normals_of_sample(seed, purpose, first + t, groups_for(per_sample), work);
        for (Index k = 0; k < per_sample; ++k) out[k] = work[k];
    }
}

extern const Samplers samplers = {words,           normals_workspace, normals,
                                  patches<float>,  patches<double>,   neighbourhoods_workspace,
                                  {neighbourhoods<AsWidth>, neighbourhoods<AsDiagonal>, neighbourhoods<AsCovariance>}};

}  // namespace gaussian_neurons::GN_ISA
