// Counts, indexes and strides: signed, and as wide as a pointer on every platform.
#pragma once

#include <cstddef>

namespace gaussian_neurons {

using Index = std::ptrdiff_t;

}  // namespace gaussian_neurons
