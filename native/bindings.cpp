// Arrays in, arrays out: the only file of the core that knows Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "dispatch.hpp"
#include "grouping.hpp"
#include "rows.hpp"

namespace nb = nanobind;
using namespace gaussian_neurons;

namespace {

using Samples = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
using SampleWidths = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// One call learns for about this long, then returns so that Python can attend to signals.
constexpr auto slice = std::chrono::milliseconds(20);
constexpr double multiply_adds_between_clocks = 1 << 25;
constexpr int64_t numbers_between_clocks = 1 << 12;  // of samples, which stay in the nearest cache
constexpr int64_t rows_between_clocks = 1024;

const InstructionSet* current = nullptr;

template <class T>
struct Scratch {
    explicit Scratch(int64_t n)
        : at(static_cast<T*>(::operator new(std::max<int64_t>(n, 1) * sizeof(T), std::align_val_t(64)))) {}
    ~Scratch() { ::operator delete(at, std::align_val_t(64)); }
    Scratch(const Scratch&) = delete;
    T* at;
};

Rows rows_of(const Samples& x) {
    bool is_double = x.dtype() == nb::dtype<double>();
    if (!is_double && x.dtype() != nb::dtype<float>())
        throw nb::type_error("samples must be float32 or float64");
    return {x.data(), int64_t(x.shape(0)), int64_t(x.shape(1)), x.stride(0), x.stride(1), is_double};
}

// Neurons that learn. Their arrays are brought up to date by every call.
template <class T>
struct Learning {
    Matrix<T> centers;
    Vector<T> widths;
    Vector<int64_t> seen;
    Rule rule;
    bool learns_widths;
    int64_t K = centers.shape(0), D = centers.shape(1);
    const Kernels<T>& kernels = current->kernels<T>();
    int64_t chunk = std::clamp<int64_t>(int64_t(multiply_adds_between_clocks / (double(K) * K * D)), 1,
                                        std::clamp<int64_t>(numbers_between_clocks / std::max<int64_t>(D, 1), 64, rows_between_clocks));
    Scratch<T> work{kernels.learn_workspace(K, D, learns_widths)};
    Scratch<T> buffer{chunk * D}, width_buffer{chunk};

    Learning(Matrix<T> centers, Vector<T> widths, Vector<int64_t> seen, double learning_rate,
             double inhibition, double width_learning_rate, int64_t repulsion_every, bool learns_widths,
             bool lists)
        : centers(centers),
          widths(widths),
          seen(seen),
          rule{learning_rate, inhibition, width_learning_rate, false, repulsion_every, 0, lists},
          learns_widths(learns_widths && width_learning_rate > 0) {
        if (int64_t(widths.shape(0)) != K || seen.shape(0) != 1)
            throw nb::value_error("arrays of different lengths");
        if (K < 1 || D < 1) throw nb::value_error("no neurons, or none of any dimension");
        if (repulsion_every < 1) throw nb::value_error("repulsion_every must be at least 1");
        const T* w = widths.data();
        rule.equal_widths = std::all_of(w, w + K, [w](T v) { return v == w[0]; });
        kernels.open(K, D, this->learns_widths, centers.data(), w, work.at);
    }

    // Learns from the rows [first, ...) until they end, a slice of time is over or something is wrong.
    // `seen` counts what was learned from. Returns what went wrong: ("", row, 0) nothing,
    // ("value", row, column), ("width", row, 0), ("neuron", row, neuron).
    std::tuple<std::string, int64_t, int64_t> learn(Samples x, std::optional<SampleWidths> sample_widths,
                                                    int64_t first) {
        const Rows rows = rows_of(x);
        if (rows.D != D || (sample_widths && int64_t(sample_widths->shape(0)) != rows.n) ||
            (learns_widths && !sample_widths) || first < 0)
            throw nb::value_error("arrays of different lengths");
        nb::gil_scoped_release released;
        auto outcome = learn_rows(rows, sample_widths ? sample_widths->data() : nullptr, first);
        kernels.write(work.at, centers.data(), widths.data());
        return outcome;
    }

private:
    std::tuple<std::string, int64_t, int64_t> learn_rows(const Rows& rows, const double* sample_widths,
                                                         int64_t first) {
        const auto deadline = std::chrono::steady_clock::now() + slice;
        int64_t* count = seen.data();
        while (first < rows.n) {
            int64_t n = std::min(chunk, rows.n - first);
            BadValue bad = copy_rows(rows, first, n, buffer.at);
            if (bad.row >= 0) n = bad.row - first;
            std::string trouble = bad.row >= 0 ? "value" : "";
            for (int64_t t = 0; sample_widths && t < n; ++t) {
                T value = T(sample_widths[first + t]);
                width_buffer.at[t] = value;
                if (value >= 0 && value - value == 0) continue;
                bad = {first + t, 0};
                trouble = "width";
                n = t;
            }
            rule.since_repulsion = *count % rule.repulsion_every;
            Outcome outcome = kernels.learn(rule, n, buffer.at, width_buffer.at, work.at);
            *count += outcome.learned;
            first += outcome.learned;
            if (outcome.diverged >= 0) return {"neuron", first, outcome.diverged};
            if (!trouble.empty()) return {trouble, bad.row, bad.column};
            if (std::chrono::steady_clock::now() >= deadline) break;
        }
        return {"", first, 0};
    }
};

template <class T>
void bind_learning(nb::module_& m, const char* name) {
    nb::class_<Learning<T>>(m, name)
        .def(nb::init<Matrix<T>, Vector<T>, Vector<int64_t>, double, double, double, int64_t, bool, bool>(),
             nb::arg("centers").noconvert(), nb::arg("widths").noconvert(), nb::arg("seen").noconvert(),
             nb::arg("learning_rate"), nb::arg("inhibition"), nb::arg("width_learning_rate"),
             nb::arg("repulsion_every"), nb::arg("learns_widths"), nb::arg("lists") = true)
        .def("learn", &Learning<T>::learn, nb::arg("samples").noconvert(), nb::arg("sample_widths").none(),
             nb::arg("first"));
}

template <class T>
void bind_distances(nb::module_& m) {
    m.def(
        "squared_distances",
        [](Samples x, Matrix<const T> centers, Matrix<T> out) -> std::tuple<int64_t, int64_t> {
            const Rows rows = rows_of(x);
            const int64_t K = centers.shape(0), D = centers.shape(1);
            if (rows.D != D || int64_t(out.shape(0)) != rows.n || int64_t(out.shape(1)) != K)
                throw nb::value_error("arrays of different lengths");
            const auto& kernels = current->kernels<T>();
            const T* c = centers.data();
            T* to = out.data();
            nb::gil_scoped_release released;
            Scratch<T> buffer(rows.n * D), work(kernels.distances_workspace(K, D));
            BadValue bad = copy_rows(rows, 0, rows.n, buffer.at);
            if (bad.row < 0) kernels.distances(K, D, rows.n, buffer.at, c, to, work.at);
            return {bad.row, bad.column};
        },
        nb::arg("samples").noconvert(), nb::arg("centers").noconvert(), nb::arg("out").noconvert());
}

// ---- groups -----------------------------------------------------------------------------------------

void bind_groups(nb::module_& m) {
    m.def(
        "join_groups",
        [](Matrix<const double> distances, Vector<const int64_t> label, Matrix<const double> gaps) {
            const int64_t n = label.shape(0), k = gaps.shape(0);
            if (int64_t(distances.shape(0)) != n || int64_t(distances.shape(1)) != n ||
                int64_t(gaps.shape(1)) != k)
                throw nb::value_error("arrays of different lengths");
            const int64_t* of = label.data();
            std::vector<bool> used(k, false);
            for (int64_t a = 0; a < n; ++a) {
                if (of[a] < 0 || of[a] >= k) throw nb::value_error("a label that is none");
                used[of[a]] = true;
            }
            if (!std::all_of(used.begin(), used.end(), [](bool it) { return it; }))
                throw nb::value_error("a group without rows");
            const double *d = distances.data(), *g = gaps.data();
            Joined found;
            {
                nb::gil_scoped_release released;
                found = Grouping(n, k, d, of, g).join();
            }
            return std::tuple(found.first, found.second, found.silhouettes);
        },
        nb::arg("distances").noconvert(), nb::arg("label").noconvert(), nb::arg("gaps").noconvert());
}

// ---- samplers ---------------------------------------------------------------------------------------

using Pixels = nb::ndarray<nb::ro, nb::ndim<4>, nb::c_contig, nb::device::cpu>;
using Chosen = std::optional<nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>>;

// The images, once it is certain that windows of `side` pixels fit and that every chosen one exists.
Images images_of(const Pixels& x, const Chosen& chosen, int64_t side) {
    const bool is_float = x.dtype() == nb::dtype<float>();
    if (!is_float && x.dtype() != nb::dtype<uint8_t>()) throw nb::type_error("images must be uint8 or float32");
    Images images{x.data(), is_float, Index(x.shape(0)), Index(x.shape(1)), Index(x.shape(2)), Index(x.shape(3)),
                  nullptr, 0};
    if (chosen) {
        images.chosen = chosen->data();
        images.n_chosen = Index(chosen->shape(0));
        for (Index k = 0; k < images.n_chosen; ++k)
            if (images.chosen[k] < 0 || images.chosen[k] >= images.n)
                throw nb::value_error("an image is chosen that there is not");
    }
    const Index count = chosen ? images.n_chosen : images.n;
    if (side < 1 || side > images.height || side > images.width || images.channels < 1 || count < 1 ||
        count >= (1ll << 32))
        throw nb::value_error("no patch of that size in these images");
    return images;
}

template <class T>
void patches(Pixels x, Chosen chosen, int64_t size, uint64_t seed, uint64_t first, Matrix<T> out) {
    const Images images = images_of(x, chosen, size);
    if (int64_t(out.shape(1)) != size * size * images.channels) throw nb::value_error("out of a wrong shape");
    const auto& samplers = current->samplers;
    T* to = out.data();
    const Index n = Index(out.shape(0));
    nb::gil_scoped_release released;
    if constexpr (sizeof(T) == sizeof(float))
        samplers.patches_single(images, size, seed, first, n, to);
    else
        samplers.patches_double(images, size, seed, first, n, to);
}

void neighbourhoods(Pixels x, Chosen chosen, int64_t size, double noise, uint64_t seed, uint64_t first,
                    Matrix<float> means, Vector<float> widths) {
    const Images images = images_of(x, chosen, size + 2);
    if (int64_t(means.shape(1)) != size * size * images.channels || means.shape(0) != widths.shape(0))
        throw nb::value_error("out of a wrong shape");
    const auto& samplers = current->samplers;
    float *to = means.data(), *widths_to = widths.data();
    const Index n = Index(means.shape(0));
    nb::gil_scoped_release released;
    Scratch<float> work(samplers.neighbourhoods_workspace(size, images.channels));
    samplers.neighbourhoods(images, size, float(noise), seed, first, n, to, widths_to, work.at);
}

void random_words(uint64_t seed, uint32_t purpose, uint64_t first, Matrix<uint32_t> out) {
    const auto& samplers = current->samplers;
    uint32_t* to = out.data();
    const Index n = Index(out.shape(0)), each = Index(out.shape(1));
    nb::gil_scoped_release released;
    samplers.words(seed, purpose, first, n, each, to);
}

void random_normals(uint64_t seed, uint32_t purpose, uint64_t first, Matrix<float> out) {
    const auto& samplers = current->samplers;
    float* to = out.data();
    const Index n = Index(out.shape(0)), each = Index(out.shape(1));
    nb::gil_scoped_release released;
    Scratch<float> work(samplers.normals_workspace(each));
    samplers.normals(seed, purpose, first, n, each, to, work.at);
}

void bind_samplers(nb::module_& m) {
    auto images = nb::arg("images").noconvert();
    auto chosen = nb::arg("chosen").none();
    auto out = nb::arg("out").noconvert();
    nb::arg size("size"), seed("seed"), first("first"), purpose("purpose");
    m.def("patches", &patches<float>, images, chosen, size, seed, first, out);
    m.def("patches", &patches<double>, images, chosen, size, seed, first, out);
    m.def("neighbourhoods", &neighbourhoods, images, chosen, size, nb::arg("noise"), seed, first,
          nb::arg("means").noconvert(), nb::arg("widths").noconvert());
    m.def("random_words", &random_words, seed, purpose, first, out);
    m.def("random_normals", &random_normals, seed, purpose, first, out);
}

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
    throw nb::value_error(("no instruction set " + name + " here").c_str());
}

// Billions of operations a second on this core, and the vector shape: for the benchmark.
template <class T>
nb::dict measure_core(double seconds) {
    const auto& kernels = current->kernels<T>();
    auto rate = [&](double (*work)(Index)) {
        double done = 0, elapsed = 0;
        auto begin = std::chrono::steady_clock::now();
        while (elapsed < seconds) {
            done += work(10000);
            elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        }
        return done / elapsed * 1e-9;
    };
    nb::dict facts;
    facts["multiply_adds"] = rate(kernels.multiply_adds);
    facts["exponentials"] = rate(kernels.exponentials);
    facts["lanes"] = kernels.lanes;
    facts["group"] = kernels.group;
    return facts;
}

}  // namespace

NB_MODULE(_core, m) {
    current = &*std::find_if(instruction_sets().begin(), instruction_sets().end(),
                             [](const InstructionSet& set) { return set.supported; });
    nb::set_leak_warnings(false);  // a generator that learns may outlive the module at the interpreter's end
    bind_learning<float>(m, "LearningSingle");
    bind_learning<double>(m, "LearningDouble");
    bind_distances<float>(m);
    bind_distances<double>(m);
    bind_groups(m);
    bind_samplers(m);
    m.def("available", &available);
    m.def("current", [] { return std::string(current->name); });
    m.def("use", &use, nb::arg("name"));
    m.def("measure_core_single", &measure_core<float>, nb::arg("seconds"));
    m.def("measure_core_double", &measure_core<double>, nb::arg("seconds"));
    m.attr("compiler") = GN_COMPILER;
}
