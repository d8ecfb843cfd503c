// The instruction sets of this build, and whether this processor supports them.
#pragma once

#include <span>

#include "kernels.hpp"
#include "samplers.hpp"

namespace gaussian_neurons {

struct InstructionSet {
    const char* name;
    bool supported;  // by this processor and its operating system
    const Kernels<float>& single_precision;
    const Kernels<double>& double_precision;
    const Samplers& samplers;

    template <class T>
    const Kernels<T>& kernels() const {
        if constexpr (sizeof(T) == sizeof(float))
            return single_precision;
        else
            return double_precision;
    }
};

// The one with the widest vectors first. The last one, "baseline", runs on every processor of the architecture.
std::span<const InstructionSet> instruction_sets();

}  // namespace gaussian_neurons
