// The module gaussian_neurons._core: checks arguments, releases the GIL, calls the kernels.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "dispatch.hpp"
#include "merging.hpp"
#include "relocation.hpp"
#include "tridiagonal.hpp"

namespace nb = nanobind;
using namespace gaussian_neurons;

namespace {

const InstructionSet* current = nullptr;

void require(bool holds, const char* message) {
    if (!holds) throw nb::value_error(message);
}

// Memory for n numbers, 64-byte aligned, not initialized.
template <class T>
struct Scratch {
    explicit Scratch(Index n) : at(static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(64)))) {}
    ~Scratch() { ::operator delete(at, std::align_val_t(64)); }
    Scratch(const Scratch&) = delete;
    T* at;
};

// ---- learning ---------------------------------------------------------------------------------------

// A call learns for about this long, so that Python can handle signals between two calls.
constexpr auto slice = std::chrono::milliseconds(20);
constexpr int opening_share = 8;  // and this many times as long as the first chunk, which may make lists
constexpr Index fewest_rows_for_lists = 8;  // in a call; for fewer, neighbour lists do not pay off

// Rows that are learned between two looks at the clock: about a millisecond of work, and few enough numbers
// to stay in the L1 cache.
Index chunk_rows(Index K, Index D, Shape shape) {
    const double multiply_adds = 1 << 25;
    const Index in_cache = std::clamp<Index>((1 << 12) / D, 64, 1024);
    const double of_row = double(K) * K * D * (shape == Shape::full ? D : 1);
    return std::clamp<Index>(Index(multiply_adds / of_row), 1, in_cache);
}

enum Status { fine = 0, bad_value = 1, bad_width = 2, diverged = 3 };
using Learned = std::tuple<int, Index, Index>;  // status, row, column or neuron

using Clock = std::chrono::steady_clock;

// One layer, and what of the samples it learns.
template <class T>
struct Learner {
    T *centers, *widths;            // INOUT  (K, D) and (K,), (K, D) or (K, D, D)
    const SampleRows& rows;         // IN     (n, D)
    const double* sample_widths;    // IN     (n,), (n, D), (n, D, D) or null
    Setup setup;
    Rule rule;

    // Learns rows [first, ...) until they end, the deadline is over or something is wrong, and leaves a valid
    // state in centers and widths. `seen` samples were learned before row `first`. Returns (fine, next row to
    // learn, 0), (bad_value, row, column), (bad_width, row, 0) or (diverged, row, neuron).
    Learned run(Index first, Index seen, std::optional<Clock::time_point> deadline) const {
        const Index D = setup.D, of_width = numbers_of(setup.shape, D);
        const auto& kernels = current->kernels<T>();
        const Index chunk = std::min(chunk_rows(setup.K, D, setup.shape), rows.n - first);
        const Index work_size = kernels.learn_workspace(setup), widths_size = sample_widths ? chunk * of_width : 0;
        const Scratch<T> work(work_size + (rows.in_place<T>() ? 0 : chunk * D) + widths_size);
        T *chunk_widths = work.at + work_size, *buffer = chunk_widths + widths_size;
        const auto begin = chunk < rows.n - first && !deadline ? Clock::now() : Clock::time_point();
        Learned result{fine, first, 0};
        auto& [status, row, where] = result;
        kernels.open(setup, centers, widths, work.at);
        while (true) {
            Index n = std::min(chunk, rows.n - row);
            const auto [samples, bad] = read_rows(rows, row, n, buffer);
            int found = fine;
            if (bad.row >= 0) {
                found = bad_value;
                n = bad.row - row;
                where = bad.column;
            }
            for (Index k = 0; sample_widths && k < n * of_width; ++k) {
                chunk_widths[k] = T(sample_widths[row * of_width + k]);
                const bool is_variance = setup.shape != Shape::full || k % of_width % (D + 1) == 0;
                if (is_finite(chunk_widths[k]) && (!is_variance || chunk_widths[k] >= 0)) continue;
                found = bad_width;
                n = k / of_width;
                where = 0;
            }
            const Outcome outcome =
                kernels.learn(setup, rule, n, seen + (row - first), samples, chunk_widths, work.at);
            row += outcome.learned;
            if (outcome.diverged >= 0) {
                found = diverged;
                where = outcome.diverged;
            }
            status = found;
            if (status != fine || row == rows.n) break;
            const auto now = Clock::now();
            if (!deadline)
                deadline = now + std::max<Clock::duration>(slice, opening_share * (now - begin));
            else if (now >= *deadline)
                break;
        }
        kernels.write(setup, work.at, centers, widths);
        return result;
    }
};

void require_learnable(Index K, Index D, bool widths_fit, const SampleRows& rows) {
    require(K >= 1 && D >= 1, "centers must have at least one row and one column");
    require(widths_fit, "widths must be (K,), (K, D) or (K, D, D) for centers (K, D)");
    require(rows.D == D, "samples must have as many columns as centers");
}

// See Learner.
template <class T>
Learned learn(const Matrix<T>& centers,  // INOUT  (K, D)
              const Widths<T>& widths,   // INOUT  (K,), (K, D) or (K, D, D)
              const SampleRows& rows,    // IN     (n, D)
              const Widths<const double>& sample_widths,  // IN     (n,), (n, D), (n, D, D) or None
              Index first,               // the first row to learn
              Index seen,                // number of samples learned before row `first`
              double learning_rate, double inhibition, double width_learning_rate, Index repulsion_every,
              bool lists) {
    const Index K = centers.shape[0], D = centers.shape[1];
    require_learnable(K, D, widths.fits(K, D), rows);
    require(!sample_widths.data || (sample_widths.dimensions == widths.dimensions && sample_widths.fits(rows.n, D)),
            "sample_widths must have one element for each row, of the shape of those of widths");
    require(first >= 0 && first <= rows.n, "first must be in [0, n]");
    require(seen >= 0, "seen must be at least 0");
    require(repulsion_every >= 1, "repulsion_every must be at least 1");
    if (first == rows.n) return {fine, first, 0};
    const Learner<T> learner{centers.data, widths.data, rows, sample_widths.data,
                             {K, D, Shape(widths.dimensions - 1), sample_widths.data && width_learning_rate > 0,
                              lists && rows.n - first >= fewest_rows_for_lists},
                             {learning_rate, inhibition, width_learning_rate, repulsion_every}};
    nb::gil_scoped_release released;
    return learner.run(first, seen, {});
}

// Calls work(0) to work(count - 1) from so many threads, each number once.
template <class Work>
void in_threads(Index threads, Index count, Work work) {
    std::atomic<Index> next{0};
    std::mutex lock;
    std::exception_ptr error;
    auto all = [&] {
        try {
            for (Index k; (k = next++) < count;) work(k);
        } catch (...) {
            next = count;
            const std::lock_guard held(lock);
            error = std::current_exception();
        }
    };
    std::vector<std::thread> others;
    try {
        for (Index k = 1; k < std::min(threads, count); ++k) others.emplace_back(all);
    } catch (const std::system_error&) {
        // The system has no more threads: those there are do the work.
    }
    all();
    for (auto& other : others) other.join();
    if (error) std::rethrow_exception(error);
}

// Many layers of one size that learn the same rows, each by its own rule, in threads. The bits do not depend on
// the number of threads: each layer is learned by one at a time. Ends once all layers have learned all rows, or
// one time slice is over, or something is wrong with a layer.
template <class T>
void learn_each(const Array<T, 3>& centers,             // INOUT  (M, K, D)
                const Widths<T>& widths,                // INOUT  (M K,), (M K, D) or (M K, D, D)
                const SampleRows& rows,                 // IN     (n, D)
                const Widths<const double>& sample_widths,  // IN     as in `learn`
                const Vector<int64_t>& next,            // INOUT  (M,)  the next row to learn of each layer
                const Vector<const int64_t>& seen,      // IN     (M,)  number of samples learned before row 0
                const Matrix<const double>& rules,      // IN     (M, 4)  as in `Rule`
                const Vector<int64_t>& status,          // OUT    (M,)
                const Vector<int64_t>& where,           // OUT    (M,)  see Learner
                Index threads) {
    const Index M = centers.shape[0], K = centers.shape[1], D = centers.shape[2];
    require_learnable(K, D, widths.fits(M * K, D), rows);
    require(!sample_widths.data || (sample_widths.dimensions == widths.dimensions && sample_widths.fits(rows.n, D)),
            "sample_widths must have one element for each row, of the shape of those of widths");
    require(next.shape[0] == M && seen.shape[0] == M && status.shape[0] == M && where.shape[0] == M,
            "next, seen, status and where must be (M,) for centers (M, K, D)");
    require(rules.shape[0] == M && rules.shape[1] == 4, "rules must be (M, 4)");
    require(threads >= 1, "threads must be at least 1");
    for (Index m = 0; m < M; ++m) {
        require(next.data[m] >= 0 && next.data[m] <= rows.n, "next must be in [0, n]");
        require(seen.data[m] >= 0, "seen must be at least 0");
        require(rules.data[4 * m + 3] >= 1 && rules.data[4 * m + 3] < 0x1p63, "repulsion_every must be in [1, 2^63)");
        status.data[m] = fine;
    }
    const Shape shape = Shape(widths.dimensions - 1);
    nb::gil_scoped_release released;
    const auto deadline = Clock::now() + slice;
    in_threads(threads, M, [&](Index m) {
        int64_t& row = next.data[m];
        if (row == rows.n || Clock::now() >= deadline) return;
        const double* rule = rules.data + 4 * m;
        const Learner<T> learner{centers.data + m * K * D, widths.data + m * K * numbers_of(shape, D), rows,
                                 sample_widths.data,
                                 {K, D, shape, sample_widths.data && rule[2] > 0,
                                  rows.n - row >= fewest_rows_for_lists},
                                 {rule[0], rule[1], rule[2], Index(rule[3])}};
        std::tie(status.data[m], row, where.data[m]) = learner.run(row, seen.data[m] + row, deadline);
    });
}

// The same for neurons that share each sample. Returns (fine, next row to learn, 0) or (bad_value, row, column).
template <class T>
Learned learn_shares(const Matrix<T>& centers,      // INOUT  (K, D)
                     const Vector<T>& widths,       // INOUT  (K,)
                     const Vector<double>& totals,  // INOUT  (K,)  sum of the shares so far
                     const Vector<const bool>& resting,  // IN  (K,)  neurons that do not learn
                     const SampleRows& rows,        // IN     (n, D)
                     Index first,                   // the first row to learn
                     double rate, double least_width, double reach) {
    const Index K = centers.shape[0], D = centers.shape[1];
    require(K >= 1 && D >= 1, "centers must have at least one row and one column");
    require(widths.shape[0] == K && totals.shape[0] == K && resting.shape[0] == K,
            "widths, totals and resting must be (K,) for centers (K, D)");
    require(rows.D == D, "samples must have as many columns as centers");
    require(first >= 0 && first <= rows.n, "first must be in [0, n]");
    if (first == rows.n) return {fine, first, 0};
    const auto& kernels = current->kernels<T>();
    nb::gil_scoped_release released;
    const Index chunk = std::min(std::clamp<Index>((1 << 22) / (K * D), 1, 1024), rows.n - first);
    const Index work_size = kernels.shares_workspace(K, D);
    const Scratch<T> work(work_size + (rows.in_place<T>() ? 0 : chunk * D));
    const auto deadline = Clock::now() + slice;
    for (Index row = first;;) {
        const Index n = std::min(chunk, rows.n - row);
        const auto [samples, bad] = read_rows(rows, row, n, work.at + work_size);
        const Index good = bad.row < 0 ? n : bad.row - row;
        kernels.learn_shares(K, D, good, rate, least_width, reach, samples, resting.data, centers.data, widths.data,
                             totals.data, work.at);
        row += good;
        if (bad.row >= 0) return {bad_value, bad.row, bad.column};
        if (row == rows.n || Clock::now() >= deadline) return {fine, row, 0};
    }
}

template <class T>
void bind_learning(nb::module_& m) {
    m.def("learn_shares", &learn_shares<T>, nb::arg("centers"), nb::arg("widths"), nb::arg("totals"),
          nb::arg("resting"), nb::arg("samples"), nb::arg("first"), nb::arg("rate"),
          nb::arg("least_width"), nb::arg("reach"));
    m.def("learn", &learn<T>, nb::arg("centers"), nb::arg("widths"), nb::arg("samples"),
          nb::arg("sample_widths").none(), nb::arg("first"), nb::arg("seen"), nb::arg("learning_rate"),
          nb::arg("inhibition"), nb::arg("width_learning_rate"), nb::arg("repulsion_every"),
          nb::arg("lists") = true);
    m.def("learn_each", &learn_each<T>, nb::arg("centers"), nb::arg("widths"), nb::arg("samples"),
          nb::arg("sample_widths").none(), nb::arg("next"), nb::arg("seen"), nb::arg("rules"), nb::arg("status"),
          nb::arg("where"), nb::arg("threads"));
}

// ---- distances and responses ------------------------------------------------------------------------

using Place = std::tuple<Index, Index>;  // row and column of the first value that is not finite, or -1

// Calls kernel(samples, first row, number of rows, work) for chunks of rows.
template <class T, class Size, class Kernel>
Place measure(const Rows& rows, Size workspace, Kernel kernel) {
    nb::gil_scoped_release released;
    const Index chunk = std::min(rows.n, std::max<Index>((1 << 18) / std::max<Index>(rows.D, 1), 256));
    const Index work_size = workspace(chunk);
    const Scratch<T> work(work_size + (rows.in_place<T>() ? 0 : chunk * rows.D));
    for (Index first = 0; first < rows.n; first += chunk) {
        const Index n = std::min(chunk, rows.n - first);
        const auto [samples, bad] = read_rows(rows, first, n, work.at + work_size);
        if (bad.row >= 0) return {bad.row, bad.column};
        kernel(samples, first, n, work.at);
    }
    return {-1, -1};
}

// |x - mu_i|^2. `out` is incomplete if a value is not finite.
template <class T>
Place squared_distances(const SampleRows& rows,          // IN   (n, D)
                        const Matrix<const T>& centers,  // IN   (K, D)
                        const Matrix<T>& out) {          // OUT  (n, K)
    const Index K = centers.shape[0], D = centers.shape[1];
    require(rows.D == D, "samples must have as many columns as centers");
    require(out.shape[0] == rows.n && out.shape[1] == K, "out must have the shape (samples, centers)");
    const auto& kernels = current->kernels<T>();
    auto size = [&](Index n) { return kernels.measure_workspace(K, D, n); };
    return measure<T>(rows, size, [&](const T* samples, Index first, Index n, T* work) {
        kernels.distances(K, D, n, samples, centers.data, out.data + first * K, work);
    });
}

// (x - mu_i)^T Sigma_i^-1 (x - mu_i). `out` is incomplete if a value is not finite.
template <class T>
Place quadratic_forms(const SampleRows& rows,              // IN   (n, D)
                      const Matrix<const T>& centers,      // IN   (K, D)
                      const Widths<const T>& covariances,  // IN   (K, D) or (K, D, D)
                      const Matrix<T>& out) {              // OUT  (n, K)
    const Index K = centers.shape[0], D = centers.shape[1];
    require(K >= 1 && D >= 1, "centers must have at least one row and one column");
    require(rows.D == D, "samples must have as many columns as centers");
    require(covariances.dimensions > 1 && covariances.fits(K, D), "covariances must be (K, D) or (K, D, D)");
    require(out.shape[0] == rows.n && out.shape[1] == K, "out must have the shape (samples, centers)");
    const auto& kernels = current->kernels<T>();
    const Setup setup{K, D, Shape(covariances.dimensions - 1), false, false};
    bool regular = true;
    const Place bad = measure<T>(
        rows, [&](Index) { return kernels.learn_workspace(setup); },
        [&](const T* samples, Index first, Index n, T* work) {
            regular &= kernels.forms(setup, n, samples, centers.data, covariances.data, out.data + first * K, work);
        });
    require(regular, "covariances must be positive definite");
    return bad;
}

// The neuron with the largest log-response -|x - mu_i|^2 / sigma_i less its offset, and its log-response. Both are
// incomplete if a value is not finite.
template <class T>
Place strongest(const SampleRows& rows,            // IN   (n, D)
                const Matrix<const T>& centers,    // IN   (K, D)
                const Vector<const T>& widths,     // IN   (K,)
                const Vector<const T>& offsets,    // IN   (K,)
                const Vector<int64_t>& winner,     // OUT  (n,)
                const Vector<T>& log_response) {   // OUT  (n,)
    const Index K = centers.shape[0], D = centers.shape[1];
    require(K >= 1, "centers must have at least one row");
    require(rows.D == D, "samples must have as many columns as centers");
    require(widths.shape[0] == K && offsets.shape[0] == K, "widths and offsets must have one value for each center");
    require(winner.shape[0] == rows.n && log_response.shape[0] == rows.n,
            "winner and log_response must have one element for each row");
    const auto& kernels = current->kernels<T>();
    auto size = [&](Index n) { return kernels.measure_workspace(K, D, n); };
    return measure<T>(rows, size, [&](const T* samples, Index first, Index n, T* work) {
        kernels.strongest(K, D, n, samples, centers.data, widths.data, offsets.data, winner.data + first,
                          log_response.data + first, work);
    });
}

template <class T>
void bind_measuring(nb::module_& m) {
    m.def("squared_distances", &squared_distances<T>, nb::arg("samples"), nb::arg("centers"), nb::arg("out"));
    m.def("quadratic_forms", &quadratic_forms<T>, nb::arg("samples"), nb::arg("centers"), nb::arg("covariances"),
          nb::arg("out"));
    m.def("strongest", &strongest<T>, nb::arg("samples"), nb::arg("centers"), nb::arg("widths"),
          nb::arg("offsets"), nb::arg("winner"), nb::arg("log_response"));
}

// ---- groups -----------------------------------------------------------------------------------------

Merging merging_of(const Matrix<const double>& centers, const Vector<const double>& variances,
                   const Vector<const double>& counts, double directions) {
    const Index k = centers.shape[0], D = centers.shape[1];
    require(k >= 1 && D >= 1, "centers must have at least one row and one column");
    require(variances.shape[0] == k && counts.shape[0] == k, "variances and counts must be (k,)");
    for (Index i = 0; i < k; ++i)
        require(variances.data[i] > 0 && counts.data[i] > 0, "variances and counts must be positive");
    return Merging(k, D, centers.data, variances.data, counts.data, directions);
}

std::tuple<std::vector<int64_t>, std::vector<int64_t>, std::vector<double>> merge_gaussians(
    const Matrix<const double>& centers, const Vector<const double>& variances,
    const Vector<const double>& counts, double directions) {
    Merging merging = merging_of(centers, variances, counts, directions);
    nb::gil_scoped_release released;
    Merges found = merging.run();
    return {found.first, found.second, found.cost};
}

double refine_groups(const Matrix<const double>& centers, const Vector<const double>& variances,
                     const Vector<const double>& counts, double directions, double margin,
                     const Vector<int64_t>& groups) {  // INOUT
    Merging merging = merging_of(centers, variances, counts, directions);
    const Index k = centers.shape[0];
    require(groups.shape[0] == k, "groups must be (k,)");
    for (Index i = 0; i < k; ++i) require(groups.data[i] >= 0 && groups.data[i] < k, "groups must be in [0, k)");
    nb::gil_scoped_release released;
    return merging.refine(groups.data, margin);
}

// Move neurons to where samples need them. Only neurons of one group are merged, and those that rest are not split.
// `origins`: the old index of each neuron, or -1 if it is at another place.
void relocate(const Matrix<double>& centers,           // INOUT  (K, D)
              const Vector<double>& widths,            // INOUT  (K,)
              const Vector<double>& counts,            // INOUT  (K,)  samples that each represents
              const Vector<const int64_t>& groups,     // IN     (K,)
              const Vector<const bool>& resting,       // IN     (K,)
              const Matrix<const double>& rows,        // IN     (n, D)
              const Vector<const int64_t>& winners,    // IN     (n,)  the neuron of each row, or -1
              const Vector<const double>& background,  // IN     (n,)  minus the log-density of rows without a neuron
              double margin,
              const Vector<int64_t>& origins) {  // OUT    (K,)
    const Index K = centers.shape[0], D = centers.shape[1], n = rows.shape[0];
    require(K >= 1 && D >= 1 && rows.shape[1] == D, "centers and rows must have the same columns");
    for (Index length : {widths.shape[0], counts.shape[0], groups.shape[0], resting.shape[0], origins.shape[0]})
        require(length == K, "widths, counts, groups, resting and origins must be (K,)");
    require(winners.shape[0] == n && background.shape[0] == n, "winners and background must be (n,)");
    for (Index i = 0; i < K; ++i) require(widths.data[i] > 0 && counts.data[i] >= 0, "widths must be positive");
    for (Index t = 0; t < n; ++t) require(winners.data[t] >= -1 && winners.data[t] < K, "winners must be in [-1, K)");
    nb::gil_scoped_release released;
    Relocation(K, D, n, rows.data, winners.data, background.data, groups.data, resting.data, centers.data,
               widths.data, counts.data, origins.data)
        .run(margin);
}

// ---- eigenvalues ------------------------------------------------------------------------------------

void reduce_to_tridiagonal(const Matrix<double>& matrix, const Vector<double>& diagonal,
                           const Vector<double>& off_diagonal) {
    const Index n = diagonal.shape[0];
    require(matrix.shape[0] == n && matrix.shape[1] == n, "matrix must be (n, n) for a diagonal of n");
    require(off_diagonal.shape[0] == std::max<Index>(n - 1, 0), "off_diagonal must have one element fewer than the diagonal");
    nb::gil_scoped_release released;
    tridiagonal(n, matrix.data, diagonal.data, off_diagonal.data);
}

// ---- samplers ---------------------------------------------------------------------------------------

using Chosen = Vector<const int64_t>;  // indexes of the images to draw from, or None for all

// The images, after checking that windows of size + border pixels fit and that all chosen images exist.
Images checked(Images images, const Chosen& chosen, Index size, Index border) {
    images.chosen = chosen.data;
    images.n_chosen = chosen.shape[0];
    for (Index k = 0; k < images.n_chosen; ++k)
        require(chosen.data[k] >= 0 && chosen.data[k] < images.n, "chosen must be in [0, number of images)");
    const Index count = chosen.data ? images.n_chosen : images.n;
    require(count >= 1 && count < (1ll << 32), "there must be between 1 and 2^32 - 1 images");
    require(images.channels >= 1, "images must have at least one channel");
    require(size >= 1 && size <= std::min(images.height, images.width) - border,
            "size must be at least 1 and windows must fit into the images");
    return images;
}

template <class T>
void patches(const ImageArray& x, const Chosen& chosen, Index size, uint64_t seed, uint64_t first,
             const Matrix<T>& out) {
    const Images images = checked(x, chosen, size, 0);
    require(out.shape[1] == size * size * images.channels, "out must have size * size * channels columns");
    const auto& samplers = current->samplers;
    nb::gil_scoped_release released;
    if constexpr (sizeof(T) == sizeof(float))
        samplers.patches_single(images, size, seed, first, out.shape[0], out.data);
    else
        samplers.patches_double(images, size, seed, first, out.shape[0], out.data);
}

void neighbourhoods(const ImageArray& x, const Chosen& chosen, Index size, double noise, uint64_t seed,
                    uint64_t first, const Matrix<float>& means, const Widths<float>& widths) {
    const Images images = checked(x, chosen, size, 2);
    require(means.shape[1] == size * size * images.channels, "means must have size * size * channels columns");
    require(widths.fits(means.shape[0], means.shape[1]), "widths must be (n,), (n, D) or (n, D, D) for means (n, D)");
    const auto& samplers = current->samplers;
    nb::gil_scoped_release released;
    const Scratch<float> work(samplers.neighbourhoods_workspace(size, images.channels));
    samplers.neighbourhoods[widths.dimensions - 1](images, size, float(noise), seed, first, means.shape[0],
                                                   means.data, widths.data, work.at);
}

void random_words(uint64_t seed, uint32_t purpose, uint64_t first, const Matrix<uint32_t>& out) {
    const auto& samplers = current->samplers;
    nb::gil_scoped_release released;
    samplers.words(seed, purpose, first, out.shape[0], out.shape[1], out.data);
}

void random_normals(uint64_t seed, uint32_t purpose, uint64_t first, const Matrix<float>& out) {
    const auto& samplers = current->samplers;
    nb::gil_scoped_release released;
    const Scratch<float> work(samplers.normals_workspace(out.shape[1]));
    samplers.normals(seed, purpose, first, out.shape[0], out.shape[1], out.data, work.at);
}

void bind_samplers(nb::module_& m) {
    nb::arg images("images"), size("size"), seed("seed"), first("first"), purpose("purpose"), out("out");
    auto chosen = nb::arg("chosen").none();
    m.def("patches", &patches<float>, images, chosen, size, seed, first, out);
    m.def("patches", &patches<double>, images, chosen, size, seed, first, out);
    m.def("neighbourhoods", &neighbourhoods, images, chosen, size, nb::arg("noise"), seed, first,
          nb::arg("means"), nb::arg("widths"));
    m.def("random_words", &random_words, seed, purpose, first, out);
    m.def("random_normals", &random_normals, seed, purpose, first, out);
}

// ---- instruction sets -------------------------------------------------------------------------------

std::vector<std::string> available() {
    std::vector<std::string> names;
    for (const auto& set : instruction_sets())
        if (set.supported) names.push_back(set.name);
    return names;
}

void use(const std::string& name) {
    for (const auto& set : instruction_sets())
        if (set.supported && name == set.name) {
            current = &set;
            return;
        }
    throw nb::value_error(("unknown or unsupported instruction set " + name).c_str());
}

}  // namespace

NB_MODULE(_core, m) {
    current = &*std::find_if(instruction_sets().begin(), instruction_sets().end(),
                             [](const InstructionSet& set) { return set.supported; });
    nb::set_leak_warnings(false);  // generators may still refer to functions when the interpreter exits
    bind_learning<float>(m);
    bind_learning<double>(m);
    bind_measuring<float>(m);
    bind_measuring<double>(m);
    m.def("merge_gaussians", &merge_gaussians, nb::arg("centers"), nb::arg("variances"), nb::arg("counts"),
          nb::arg("directions"));
    m.def("refine_groups", &refine_groups, nb::arg("centers"), nb::arg("variances"), nb::arg("counts"),
          nb::arg("directions"), nb::arg("margin"), nb::arg("groups"));
    m.def("relocate", &relocate, nb::arg("centers"), nb::arg("widths"), nb::arg("counts"), nb::arg("groups"),
          nb::arg("resting"), nb::arg("rows"), nb::arg("winners"), nb::arg("background"), nb::arg("margin"),
          nb::arg("origins"));
    m.def("tridiagonal", &reduce_to_tridiagonal, nb::arg("matrix"), nb::arg("diagonal"), nb::arg("off_diagonal"));
    bind_samplers(m);
    m.def("available", &available);
    m.def("current", [] { return std::string(current->name); });
    m.def("use", &use, nb::arg("name"));
    m.attr("compiler") = GN_COMPILER;
}
