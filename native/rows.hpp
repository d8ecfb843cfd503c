// Rows of somebody else's array, read where they lie: any strides, either precision.
#pragma once

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

template <class T, class From>
BadValue copy_as(const Rows& rows, int64_t first, int64_t count, T* to) {
    for (int64_t t = 0; t < count; ++t) {
        const From* row = static_cast<const From*>(rows.data) + (first + t) * rows.row_stride;
        T* out = to + t * rows.D;
        T excess = 0;  // x - x is 0 for a finite x and not a number for any other
        if (rows.column_stride == 1)
            for (int64_t d = 0; d < rows.D; ++d) excess += (out[d] = T(row[d])) - out[d];
        else
            for (int64_t d = 0; d < rows.D; ++d) {
                out[d] = T(row[d * rows.column_stride]);
                excess += out[d] - out[d];
            }
        if (excess == 0) continue;
        for (int64_t d = 0; d < rows.D; ++d)
            if (!(out[d] - out[d] == 0)) return {first + t, d};
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
