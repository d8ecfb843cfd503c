// Rows of somebody else's array, read where they lie: any strides, either precision.
#pragma once

#include <bit>
#include <cstdint>

namespace gaussian_neurons {

struct Rows {
    const void* data;
    int64_t n, D;
    int64_t row_stride, column_stride;  // in elements; may be negative
    bool is_double;
};

struct BadValue {
    int64_t row = -1, column = -1;  // row < 0: every value was finite
};

// An exponent of all ones is that of infinities and of what is no number.
inline bool is_finite(float x) { return (~std::bit_cast<uint32_t>(x) & 0x7f800000u) != 0; }
inline bool is_finite(double x) { return (~std::bit_cast<uint64_t>(x) & 0x7ff0000000000000u) != 0; }

// Copy values that lie one after another; whether all are finite.
template <class T, class From>
bool copy_finite(const From* __restrict from, int64_t n, T* __restrict to) {
    unsigned bad = 0;
    for (int64_t k = 0; k < n; ++k) {
        to[k] = T(from[k]);
        bad |= !is_finite(T(from[k]));
    }
    return !bad;
}

template <class T, class From>
BadValue copy_as(const Rows& rows, int64_t first, int64_t count, T* __restrict to) {
    const int64_t D = rows.D, step = rows.column_stride;
    const bool one_piece = step == 1 && rows.row_stride == D;
    if (one_piece && copy_finite(static_cast<const From*>(rows.data) + first * D, count * D, to)) return {};
    for (int64_t t = 0; t < count; ++t, to += D) {
        const From* __restrict row = static_cast<const From*>(rows.data) + (first + t) * rows.row_stride;
        if (step == 1)
            for (int64_t d = 0; d < D; ++d) to[d] = T(row[d]);
        else
            for (int64_t d = 0; d < D; ++d) to[d] = T(row[d * step]);
        unsigned bad = 0;
        for (int64_t d = 0; d < D; ++d) bad |= !is_finite(to[d]);
        if (!bad) continue;
        for (int64_t d = 0; d < D; ++d)
            if (!is_finite(to[d])) return {first + t, d};
    }
    return {};
}

// Copy rows [first, first + count) as T, up to the first value that is not finite in T.
template <class T>
BadValue copy_rows(const Rows& rows, int64_t first, int64_t count, T* to) {
    return rows.is_double ? copy_as<T, double>(rows, first, count, to)
                          : copy_as<T, float>(rows, first, count, to);
}

}  // namespace gaussian_neurons
