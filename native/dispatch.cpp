// Detects which instruction sets the processor supports.
#include "dispatch.hpp"

namespace gaussian_neurons {

#define GN_DECLARE(isa)                              \
    namespace isa {                                  \
    extern const Kernels<float> single_precision;    \
    extern const Kernels<double> double_precision;   \
    extern const Samplers samplers;                  \
    }
#define GN_ENTRY(isa, supported) \
    InstructionSet { #isa, supported, isa::single_precision, isa::double_precision, isa::samplers }

#ifdef GN_X86_64
GN_DECLARE(avx512)
GN_DECLARE(avx2)
#endif
GN_DECLARE(baseline)

std::span<const InstructionSet> instruction_sets() {
    static const InstructionSet all[] = {
#ifdef GN_X86_64
        GN_ENTRY(avx512, __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                             __builtin_cpu_supports("fma")),
        GN_ENTRY(avx2, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")),
#endif
        GN_ENTRY(baseline, true),
    };
    return all;
}

}  // namespace gaussian_neurons
