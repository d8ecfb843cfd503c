// Rows of the caller's array: any strides, either precision, converted and checked on the way in.
#pragma once

#include <bit>
#include <cstdint>

#include "index.hpp"

namespace gaussian_neurons {

struct Rows {
    const void* data = nullptr;
    Index n = 0, D = 0;
    Index row_stride = 0, column_stride = 0;  // in elements; may be negative
    bool is_double = false;

    // Whether the rows are contiguous numbers of type T, so that kernels can read them in place.
    template <class T>
    bool in_place() const {
        return is_double == (sizeof(T) == sizeof(double)) && (column_stride == 1 || D == 1) &&
               (row_stride == D || n == 1);
    }
};

struct BadValue {
    Index row = -1, column = 0;  // row < 0: every value is finite
};

// Infinities and NaN have an exponent of all ones.
inline bool is_finite(float x) { return (~std::bit_cast<uint32_t>(x) & 0x7f800000u) != 0; }
inline bool is_finite(double x) { return (~std::bit_cast<uint64_t>(x) & 0x7ff0000000000000u) != 0; }

template <class T>
bool all_finite(const T* values, Index n) {
    unsigned bad = 0;
    for (Index k = 0; k < n; ++k) bad |= !is_finite(values[k]);
    return !bad;
}

template <class T, class From>
void copy_row(const From* __restrict from, Index step, Index D, T* __restrict to) {
    if (step == 1)
        for (Index d = 0; d < D; ++d) to[d] = T(from[d]);
    else
        for (Index d = 0; d < D; ++d) to[d] = T(from[d * step]);
}

template <class T, class From>
void copy_rows(const Rows& rows, Index first, Index count, T* to) {
    const From* from = static_cast<const From*>(rows.data) + first * rows.row_stride;
    if (rows.column_stride == 1 && rows.row_stride == rows.D) return copy_row(from, 1, count * rows.D, to);
    for (Index t = 0; t < count; ++t, from += rows.row_stride, to += rows.D)
        copy_row(from, rows.column_stride, rows.D, to);
}

template <class T>
struct Chunk {
    const T* values;  // (count, D)
    BadValue bad;     // the first value that is not finite in T
};

// Rows [first, first + count) as contiguous T: in place if possible, otherwise copied into `buffer`.
template <class T>
Chunk<T> read_rows(const Rows& rows, Index first, Index count, T* buffer) {
    const T* values = buffer;
    if (rows.in_place<T>())
        values = static_cast<const T*>(rows.data) + first * rows.D;
    else if (rows.is_double)
        copy_rows<T, double>(rows, first, count, buffer);
    else
        copy_rows<T, float>(rows, first, count, buffer);
    if (all_finite(values, count * rows.D)) return {values, {}};
    Index k = 0;
    while (is_finite(values[k])) ++k;
    return {values, {first + k / rows.D, k % rows.D}};
}

}  // namespace gaussian_neurons
