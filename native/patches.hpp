// Random patches of images, and means and widths or covariances of neighbouring patches.
#pragma once

#include "random.hpp"
#include "samplers.hpp"

namespace gaussian_neurons::GN_ISA {

typedef float LooseFloats __attribute__((vector_size(GN_VECTOR_BYTES), aligned(4), may_alias));

constexpr Index at_once = 16;        // samples in a batch
constexpr Index virtual_lanes = 16;  // lanes of a sum; the bits do not depend on the lanes of a vector
constexpr Index parts = virtual_lanes / lanes;  // vectors of a sum

struct Place {
    Index image, row, column;
};

GN_INLINE Index scaled(uint32_t word, Index count) { return Index(uint64_t(word) * uint64_t(count) >> 32); }

// The places of windows of `side` x `side` pixels for samples [first, first + at_once).
GN_INLINE void find_places(const Images& images, Index side, uint64_t seed, uint64_t first, Place* places) {
    const uint64_t count = images.chosen ? images.n_chosen : images.n;
    for (Index t = 0; t < at_once; t += lanes) {
        Block block = blocks_of_samples(seed, Purpose::place, first + t, 0);
        for (Index l = 0; l < lanes; ++l) {
            // the image from 64 bits: (high 2^32 + low) count / 2^64, rounded down
            uint64_t low = block.word[0][l] * count >> 32;
            Index image = Index((block.word[1][l] * count + low) >> 32);
            places[t + l] = {images.chosen ? Index(images.chosen[image]) : image,
                             scaled(block.word[2][l], images.height - side + 1),
                             scaled(block.word[3][l], images.width - side + 1)};
        }
    }
}

template <class Pixel>
GN_INLINE const Pixel* pixels_at(const Images& images, const Place& place) {
    return static_cast<const Pixel*>(images.pixels) +
           ((place.image * images.height + place.row) * images.width + place.column) * images.channels;
}

template <class Pixel>
GN_INLINE void fetch(const Images& images, const Place& place, Index side) {
    const Pixel* at = pixels_at<Pixel>(images, place);
    for (Index r = 0; r < side; ++r) __builtin_prefetch(at + r * images.width * images.channels);
}

template <class T>
GN_INLINE T value_of(uint8_t pixel, const T* scale) { return scale[pixel]; }
template <class T>
GN_INLINE T value_of(float pixel, const T*) { return T(pixel); }

// Copy the window of `side` x `side` pixels at a place, row by row.
template <class T, class Pixel>
GN_INLINE void copy_window(const Images& images, const Place& place, Index side, const T* scale, T* to) {
    const Pixel* from = pixels_at<Pixel>(images, place);
    const Index length = side * images.channels, next = images.width * images.channels;
    for (Index r = 0; r < side; ++r, from += next, to += length)
        for (Index k = 0; k < length; ++k) to[k] = value_of(from[k], scale);
}

template <class T>
struct Scale {
    T values[256];
    Scale() {
        for (int v = 0; v < 256; ++v) values[v] = T(v) / T(255);
    }
};

// Call visit(sample, place) for each of n samples, in batches. The pixels of the next batch are prefetched.
template <class Pixel, class Visit>
GN_INLINE void for_each_place(const Images& images, Index side, uint64_t seed, uint64_t first, Index n,
                              Visit visit) {
    Place places[2][at_once];
    auto look_ahead = [&](Index begin) {
        Place* found = places[begin / at_once % 2];
        find_places(images, side, seed, first + begin, found);
        for (Index t = 0; t < at_once; ++t) fetch<Pixel>(images, found[t], side);
    };
    look_ahead(0);
    for (Index begin = 0; begin < n; begin += at_once) {
        look_ahead(begin + at_once);
        const Index count = n - begin < at_once ? n - begin : at_once;
        for (Index t = 0; t < count; ++t) visit(begin + t, places[begin / at_once % 2][t]);
    }
}

template <class T, class Pixel>
void patches_of(const Images& images, Index size, uint64_t seed, uint64_t first, Index n, T* out) {
    const Scale<T> scale;
    const Index D = size * size * images.channels;
    for_each_place<Pixel>(images, size, seed, first, n, [&](Index t, const Place& place) {
        copy_window<T, Pixel>(images, place, size, scale.values, out + t * D);
    });
}

template <class T>
void patches(const Images& images, Index size, uint64_t seed, uint64_t first, Index n, T* out) {
    if (images.is_float)
        patches_of<T, float>(images, size, seed, first, n, out);
    else
        patches_of<T, uint8_t>(images, size, seed, first, n, out);
}

// ---- neighbourhoods ---------------------------------------------------------------------------------

constexpr Index rounded_up(Index n, Index step) { return (n + step - 1) / step * step; }

// The layout of one neighbourhood in the workspace. Each part is followed by space for one more vector.
struct Neighbourhood {
    const Index size, channels;
    const Index D = size * size * channels;
    const Index padded = rounded_up(D, virtual_lanes);
    const Index groups = rounded_up(9 * D, group_numbers) / group_numbers;  // of normal numbers
    const Index samples_at = rounded_up((size + 2) * (size + 2) * channels, virtual_lanes) + virtual_lanes;
    const Index normals_at = samples_at + 9 * padded + virtual_lanes;
    const Index mean_at = normals_at + groups * group_numbers + virtual_lanes;
    const Index real_at = mean_at + padded;
    const Index squares_at = real_at + padded;
    const Index row_at = squares_at + padded;
    const Index columns_at = row_at + padded;
    const Index total = columns_at + padded;
    float* work = nullptr;

    float* window() const { return work; }                // (size + 2, size + 2, channels)
    float* samples() const { return work + samples_at; }  // (9, padded); for covariances, then s_i - mean
    float* normals() const { return work + normals_at; }  // (9, D)
    float* mean() const { return work + mean_at; }        // (padded,)
    // (padded,) a mask: all bits are set for pixels, none in the padding
    uint32_t* real() const { return reinterpret_cast<uint32_t*>(work + real_at); }
    float* squares() const { return work + squares_at; }  // (padded,) for covariances: the diagonal of S
    float* row() const { return work + row_at; }          // (padded,) a row of S
    float* columns() const { return work + columns_at; }  // (padded,) sums over the rows of S
};

inline Index neighbourhoods_workspace(Index size, Index channels) { return Neighbourhood{size, channels}.total; }

// Copy the nine patches of the window: patch 3 dy + dx begins at row dy, column dx.
GN_INLINE void spread_window(const Neighbourhood& at) {
    const Index row = at.size * at.channels, window_row = (at.size + 2) * at.channels;
    for (Index i = 0; i < 9; ++i) {
        const float* from = at.window() + i / 3 * window_row + i % 3 * at.channels;
        float* to = at.samples() + i * at.padded;
        for (Index r = 0; r < at.size; ++r, from += window_row, to += row)
            for (Index k = 0; k < row; k += lanes)  // whole vectors: the next row overwrites the excess
                *reinterpret_cast<LooseFloats*>(to + k) = *reinterpret_cast<const LooseFloats*>(from + k);
    }
}

// The sum of the lanes of all parts, in an order that does not depend on the instruction set.
GN_INLINE float sum_of_lanes(const Floats* sums) {
    float sum[virtual_lanes];
    for (Index l = 0; l < virtual_lanes; ++l) sum[l] = sums[l / lanes][l % lanes];
    for (Index step = virtual_lanes / 2; step > 0; step /= 2)
        for (Index l = 0; l < step; ++l) sum[l] += sum[l + step];
    return sum[0];
}

// Add the noise, store the mean of the nine patches, return sum |s_i - mean|^2. For covariances, also store the
// differences s_i - mean and the sums of their squares.
template <bool ForCovariances>
GN_INLINE float measure(const Neighbourhood& at, float noise) {
    Floats sums[parts] = {};
    for (Index d = 0; d < at.padded; d += lanes) {
        Words real = *reinterpret_cast<const Words*>(at.real() + d);
        Floats s[9], total = {};
        GN_UNROLL
        for (Index i = 0; i < 9; ++i) {
            Floats normal = (Floats)*reinterpret_cast<const LooseFloats*>(at.normals() + i * at.D + d);
            s[i] = load<Single>(at.samples() + i * at.padded + d) + noise * normal;
            s[i] = (Floats)((Words)s[i] & real);
            total += s[i];
        }
        Floats mean = total / 9.0f;
        store<Single>(at.mean() + d, mean);
        Floats squares = {};
        GN_UNROLL
        for (Index i = 0; i < 9; ++i) squares += (s[i] - mean) * (s[i] - mean);
        sums[d / lanes % parts] += squares;
        if constexpr (ForCovariances) {
            store<Single>(at.squares() + d, squares);
            GN_UNROLL
            for (Index i = 0; i < 9; ++i) store<Single>(at.samples() + i * at.padded + d, s[i] - mean);
        }
    }
    return sum_of_lanes(sums);
}

// sigma_x = 2/9 sum |s_i - mean|^2 [11]
struct AsWidth {
    static constexpr bool for_covariances = false;
    static Index numbers(Index) { return 1; }
    static void write(const Neighbourhood&, float sum, float* width) { *width = 2.0f * sum / 9.0f; }
};

// The diagonal of Sigma_x [19].
struct AsDiagonal {
    static constexpr bool for_covariances = true;
    static Index numbers(Index D) { return D; }
    static void write(const Neighbourhood& at, float, float* diagonal) {
        for (Index d = 0; d < at.D; ++d) diagonal[d] = float(2 * at.D) * at.squares()[d] / 9.0f;
    }
};

// Sigma_x [19], shrunk toward sigma_x times the identity [20].
struct AsCovariance {
    static constexpr bool for_covariances = true;
    static Index numbers(Index D) { return D * D; }

    static void write(const Neighbourhood& at, float sum, float* covariance) {
        const float rho = shrinkage(at.D, add_products(at, sum, covariance));
        const float scale = (1.0f - rho) * (float(2 * at.D) / 9.0f), added = rho * (2.0f * sum / 9.0f);
        for (Index k = 0; k < at.D * at.D; ++k) covariance[k] *= scale;
        for (Index d = 0; d < at.D; ++d) covariance[d * at.D + d] += added;
    }

    // Store S = sum_i (s_i - mean) (s_i - mean)^T, return tr(S^2) / tr(S)^2.
    static float add_products(const Neighbourhood& at, float trace, float* out) {
        const float part = 1.0f / trace;
        for (Index e = 0; e < at.padded; ++e) at.columns()[e] = 0.0f;
        for (Index d = 0; d < at.D; ++d, out += at.D) {
            for (Index e = 0; e < at.padded; e += lanes) {
                Floats product = {};
                GN_UNROLL
                for (Index i = 0; i < 9; ++i) {
                    const float* differences = at.samples() + i * at.padded;
                    product += differences[d] * load<Single>(differences + e);
                }
                store<Single>(at.row() + e, product);
                Floats share = product * part;
                store<Single>(at.columns() + e, load<Single>(at.columns() + e) + share * share);
            }
            for (Index e = 0; e < at.D; ++e) out[e] = at.row()[e];
        }
        Floats sums[parts] = {};
        for (Index e = 0; e < at.padded; e += lanes) sums[e / lanes % parts] += load<Single>(at.columns() + e);
        return sum_of_lanes(sums);
    }

    // rho of Chen et al. for nine samples; `squares` is tr(S^2) / tr(S)^2.
    static float shrinkage(Index D, float squares) {
        const float above = squares + 1.0f, below = 10.0f * (squares - 1.0f / float(D));
        return below > above ? above / below : 1.0f;
    }
};

template <class As, class Pixel>
void neighbourhoods_of(const Images& images, Index size, float noise, uint64_t seed, uint64_t first, Index n,
                       float* means, float* widths, float* work) {
    const Scale<float> scale;
    Neighbourhood at{size, images.channels};
    at.work = work;
    for (Index k = 0; k < at.total; ++k) work[k] = 0.0f;
    for (Index d = 0; d < at.D; ++d) at.real()[d] = ~0u;
    for_each_place<Pixel>(images, size + 2, seed, first, n, [&](Index t, const Place& place) {
        copy_window<float, Pixel>(images, place, size + 2, scale.values, at.window());
        spread_window(at);
        normals_of_sample(seed, Purpose::noise, first + t, at.groups, at.normals());
        As::write(at, measure<As::for_covariances>(at, noise), widths + t * As::numbers(at.D));
        for (Index d = 0; d < at.D; ++d) means[t * at.D + d] = at.mean()[d];
    });
}

template <class As>
void neighbourhoods(const Images& images, Index size, float noise, uint64_t seed, uint64_t first, Index n,
                    float* means, float* widths, float* work) {
    if (images.is_float)
        neighbourhoods_of<As, float>(images, size, noise, seed, first, n, means, widths, work);
    else
        neighbourhoods_of<As, uint8_t>(images, size, noise, seed, first, n, means, widths, work);
}

}  // namespace gaussian_neurons::GN_ISA
