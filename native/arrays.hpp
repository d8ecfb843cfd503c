// NumPy arrays as arguments of bound functions, read through the buffer protocol. This costs less than
// nanobind's own ndarray, which matters for calls with one row.
//
// A view is valid during the call. None gives a view without data; nanobind passes None on only for
// arguments that are marked .none(). Arrays of another type, order, byte order or alignment do not match.
#pragma once

#include <nanobind/nanobind.h>

#include <cstring>
#include <type_traits>

#include "index.hpp"
#include "rows.hpp"
#include "samplers.hpp"

namespace gaussian_neurons {

// Whether the elements are aligned numbers of type T in the byte order of this machine.
template <class T>
bool holds(const Py_buffer& buffer) {
    constexpr const char* codes = std::is_same_v<T, float>    ? "f"
                                  : std::is_same_v<T, double> ? "d"
                                  : std::is_same_v<T, bool>   ? "?"
                                  : std::is_signed_v<T>       ? "bhilq"
                                                              : "BHILQ";
    const char* format = buffer.format;  // NumPy puts a byte order in front if the elements are not aligned
    return buffer.itemsize == sizeof(T) && format && format[0] && !format[1] && std::strchr(codes, format[0]);
}

// A C-contiguous array of N dimensions; writable unless T is const.
template <class T, int N>
struct Array {
    T* data = nullptr;
    Index shape[N] = {};

    static constexpr int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (std::is_const_v<T> ? 0 : PyBUF_WRITABLE);

    bool take(const Py_buffer& buffer) {
        if (buffer.ndim != N || !holds<std::remove_const_t<T>>(buffer)) return false;
        data = static_cast<T*>(buffer.buf);
        for (int k = 0; k < N; ++k) shape[k] = buffer.shape[k];
        return true;
    }
};

// Widths (n,), diagonals of covariances (n, D) or covariances (n, D, D), C-contiguous.
template <class T>
struct Widths {
    T* data = nullptr;
    int dimensions = 0;
    Index shape[3] = {};

    static constexpr int flags = Array<T, 1>::flags;

    bool take(const Py_buffer& buffer) {
        dimensions = buffer.ndim;
        if (dimensions < 1 || dimensions > 3 || !holds<std::remove_const_t<T>>(buffer)) return false;
        data = static_cast<T*>(buffer.buf);
        for (int k = 0; k < dimensions; ++k) shape[k] = buffer.shape[k];
        return true;
    }
    // Whether there are n of them for D dimensions.
    bool fits(Index n, Index D) const {
        bool fits = shape[0] == n;
        for (int k = 1; k < dimensions; ++k) fits &= shape[k] == D;
        return fits;
    }
};

template <class T>
using Vector = Array<T, 1>;
template <class T>
using Matrix = Array<T, 2>;

// Samples: float32 or float64, any strides.
struct SampleRows : Rows {
    static constexpr int flags = PyBUF_RECORDS_RO;

    bool take(const Py_buffer& buffer) {
        if (buffer.ndim != 2 || !(holds<float>(buffer) || holds<double>(buffer))) return false;
        data = buffer.buf;
        n = buffer.shape[0];
        D = buffer.shape[1];
        row_stride = buffer.strides[0] / buffer.itemsize;
        column_stride = buffer.strides[1] / buffer.itemsize;
        is_double = holds<double>(buffer);
        return true;
    }
};

// Images, C-contiguous: uint8 or float32.
struct ImageArray : Images {
    static constexpr int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT;

    bool take(const Py_buffer& buffer) {
        if (buffer.ndim != 4 || !(holds<uint8_t>(buffer) || holds<float>(buffer))) return false;
        pixels = buffer.buf;
        is_float = holds<float>(buffer);
        n = buffer.shape[0];
        height = buffer.shape[1];
        width = buffer.shape[2];
        channels = buffer.shape[3];
        return true;
    }
};

}  // namespace gaussian_neurons

namespace nanobind::detail {

template <class View>
struct view_caster {
    NB_TYPE_CASTER(View, const_name("numpy.ndarray"))

    Py_buffer buffer{};

    view_caster() = default;
    view_caster(const view_caster&) = delete;
    ~view_caster() { PyBuffer_Release(&buffer); }  // does nothing if there is no buffer

    bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
        if (source.is_none()) return true;
        if (PyObject_GetBuffer(source.ptr(), &buffer, View::flags) == 0) return value.take(buffer);
        PyErr_Clear();
        return false;
    }
};

template <class T, int N>
struct type_caster<gaussian_neurons::Array<T, N>> : view_caster<gaussian_neurons::Array<T, N>> {};
template <class T>
struct type_caster<gaussian_neurons::Widths<T>> : view_caster<gaussian_neurons::Widths<T>> {};
template <>
struct type_caster<gaussian_neurons::SampleRows> : view_caster<gaussian_neurons::SampleRows> {};
template <>
struct type_caster<gaussian_neurons::ImageArray> : view_caster<gaussian_neurons::ImageArray> {};

}  // namespace nanobind::detail
