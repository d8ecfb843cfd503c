// The learning rule: the steps for one sample in each case, and many samples one after another.
#pragma once

#include <new>
#include <type_traits>

#include "neighbours.hpp"
#include "shaped.hpp"

namespace gaussian_neurons::GN_ISA {

// A layer that learns. It is stored at the beginning of its workspace.
template <class S>
struct Session {
    using T = typename S::number;
    Layer<S> layer;
    Neighbours<S> near;
    bool learns_widths, equal_widths, lists;

    static Index head() { return Layer<S>::round_up(sizeof(Session) / sizeof(T) + 1, 64 / sizeof(T)); }

    static bool uses_lists(const Setup& setup) {
        return setup.lists && !setup.learns_widths && setup.K >= fewest_for_lists;
    }

    static Index size(const Setup& setup) {
        return head() + Layer<S>::size(setup.K, setup.D, setup.learns_widths) +
               (uses_lists(setup) ? Neighbours<S>::size(setup.K, setup.D) : 0);
    }

    Session(const Setup& setup, const T* centers, const T* widths, T* work)
        : layer(setup.K, setup.D, setup.learns_widths, work + head()),
          near(layer, work + head() + Layer<S>::size(setup.K, setup.D, setup.learns_widths)),
          learns_widths(setup.learns_widths),
          equal_widths(true),
          lists(uses_lists(setup)) {
        layer.read(centers, widths);
        for (Index i = 1; i < setup.K; ++i) equal_widths &= widths[i] == widths[0];
    }

    // (K,) where each neuron is, or null if neuron i is at place i.
    const int32_t* places() const { return near.listed ? near.placed : nullptr; }
};

// ---- one sample -------------------------------------------------------------------------------------

template <class T>
struct Sample {
    const T* x;
    T width;
    bool repels;    // whether centers repel each other
    const T* next;  // the next sample if centers repel each other at neither, or null
    bool measured;  // whether layer.distance holds the distances of this sample
};

template <class S>
void attract(const Layer<S>& layer, Rule rule, const Sample<typename S::number>& sample) {
    if (!sample.measured) measure_sample(layer, sample.x);
    if (sample.next)
        attract<true>(layer, rule, sample.x, sample.next);
    else
        attract<false>(layer, rule, sample.x, sample.next);
}

// Equation 1.
template <class S, class Weigh>
struct Centers {
    static constexpr bool measures_next = true;
    static void begin(Layer<S>&) {}
    static void learn(Session<S>& session, Rule rule, const Sample<typename S::number>& sample) {
        Layer<S>& layer = session.layer;
        if (!sample.repels)
            attract(layer, rule, sample);
        else if (session.lists && session.near.hold(layer))
            learn_listed(layer, session.near, rule, Weigh(layer, rule), sample.x);
        else
            learn_centers<false>(layer, rule, Weigh(layer, rule), sample.x);
    }
};

// Equation 2.
template <class S>
struct Widths {
    static constexpr bool measures_next = false;
    static void begin(Layer<S>& layer) { measure(layer, nullptr); }
    static void learn(Session<S>& session, Rule rule, const Sample<typename S::number>& sample) {
        measure_sample(session.layer, sample.x);
        adapt(session.layer, rule, sample.width);
    }
};

// Equations 1 and 2. The pairs measured for Equation 2 are used again for Equation 1 of the next sample.
template <class S>
struct Both {
    static constexpr bool measures_next = false;
    static void begin(Layer<S>& layer) { measure(layer, nullptr); }
    static void learn(Session<S>& session, Rule rule, const Sample<typename S::number>& sample) {
        Layer<S>& layer = session.layer;
        measure_sample(layer, sample.x);
        if (sample.repels)
            learn_centers<true>(layer, rule, OwnWidths<S>(layer, rule), sample.x);
        else
            attract<false>(layer, rule, sample.x, nullptr);
        measure(layer, sample.x);
        adapt(layer, rule, sample.width);
    }
};

// ---- many samples -----------------------------------------------------------------------------------

template <class S, class Case>
Outcome learn_all(Session<S>& session, Rule rule, Index n, Index seen, const typename S::number* samples,
                  const typename S::number* sample_widths) {
    Layer<S>& layer = session.layer;
    const Index since_repulsion = seen % rule.repulsion_every;
    auto repels = [&](Index t) { return (since_repulsion + t + 1) % rule.repulsion_every == 0; };
    Index measured = -1;  // the sample that was measured together with the one before it
    auto learn = [&](Index t) {
        bool fuse = Case::measures_next && !repels(t) && t + 1 < n && !repels(t + 1);
        Case::learn(session, rule, {samples + t * layer.D, sample_widths ? sample_widths[t] : 0, repels(t),
                                    fuse ? samples + (t + 1) * layer.D : nullptr, measured == t});
        measured = fuse ? t + 1 : -1;
    };
    Case::begin(layer);
    for (Index begin = 0; begin < n; begin += samples_between_checks) {
        Index end = begin + samples_between_checks < n ? begin + samples_between_checks : n;
        layer.save();
        for (Index t = begin; t < end; ++t) learn(t);
        if (layer.valid()) continue;
        layer.restore();  // repeat these samples one at a time to find the first invalid state
        Case::begin(layer);
        measured = -1;
        for (Index t = begin; t < end; ++t) {
            layer.save();
            learn(t);
            if (layer.valid()) continue;
            Index neuron = layer.first_invalid(session.places());
            layer.restore();  // the last valid state
            return {t, neuron};
        }
    }
    return {n, -1};
}

// ---- neurons of any shape ---------------------------------------------------------------------------

// Call f(type of the layer) for neurons with covariances.
template <class S, class F>
GN_INLINE auto with_shape(const Setup& setup, F f) {
    if (setup.shape == Shape::full) return f((Shaped<S, true>*)nullptr);
    return f((Shaped<S, false>*)nullptr);
}

template <class S>
Index learn_workspace(const Setup& setup) {
    if (setup.shape == Shape::round) return Session<S>::size(setup);
    return with_shape<S>(setup, [&](auto* type) {
        return std::remove_pointer_t<decltype(type)>::workspace(setup.K, setup.D);
    });
}

template <class S>
void open(const Setup& setup, const typename S::number* centers, const typename S::number* widths,
          typename S::number* work) {
    if (setup.shape == Shape::round)
        new (work) Session<S>(setup, centers, widths, work);
    else
        with_shape<S>(setup, [&](auto* type) {
            new (work) std::remove_pointer_t<decltype(type)>(setup.K, setup.D, centers, widths, work);
        });
}

template <class S>
Outcome learn(const Setup& setup, const Rule& rule, Index n, Index seen, const typename S::number* samples,
              const typename S::number* sample_widths, typename S::number* work) {
    if (setup.shape != Shape::round)
        return with_shape<S>(setup, [&](auto* type) {
            return reinterpret_cast<decltype(type)>(work)->learn(
                rule, n, seen, samples, setup.learns_widths ? sample_widths : nullptr);
        });
    auto& session = *reinterpret_cast<Session<S>*>(work);
    bool learns_centers = rule.learning_rate > 0;
    if (learns_centers && session.learns_widths)
        return learn_all<S, Both<S>>(session, rule, n, seen, samples, sample_widths);
    if (session.learns_widths) return learn_all<S, Widths<S>>(session, rule, n, seen, samples, sample_widths);
    if (learns_centers && session.equal_widths)
        return learn_all<S, Centers<S, EqualWidths<S>>>(session, rule, n, seen, samples, nullptr);
    if (learns_centers)
        return learn_all<S, Centers<S, OwnWidths<S>>>(session, rule, n, seen, samples, nullptr);
    return {n, -1};
}

// (x - mu_i)^T Sigma_i^-1 (x - mu_i) for n samples; false if a covariance has no inverse.
template <class S>
bool forms(const Setup& setup, Index n, const typename S::number* samples, const typename S::number* centers,
           const typename S::number* covariances, typename S::number* out, typename S::number* work) {
    return with_shape<S>(setup, [&](auto* type) {
        auto& layer = *new (work) std::remove_pointer_t<decltype(type)>(setup.K, setup.D, centers, covariances, work);
        for (Index t = 0; t < n; ++t, samples += setup.D, out += setup.K) {
            layer.measure(samples);
            for (Index i = 0; i < setup.K; ++i) out[i] = layer.response[i];
        }
        return layer.broken < 0;
    });
}

template <class S>
void write(const Setup& setup, const typename S::number* work, typename S::number* centers,
           typename S::number* widths) {
    if (setup.shape == Shape::round) {
        const auto& session = *reinterpret_cast<const Session<S>*>(work);
        session.layer.write(session.places(), centers, widths);
    } else
        with_shape<S>(setup, [&](auto* type) {
            reinterpret_cast<const std::remove_pointer_t<decltype(type)>*>(work)->write(centers, widths);
        });
}

}  // namespace gaussian_neurons::GN_ISA
