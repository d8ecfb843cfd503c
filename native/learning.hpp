// The learning rule: which passes a sample takes in each case, and many samples one after another.
#pragma once

#include <new>

#include "neighbours.hpp"

namespace gaussian_neurons::GN_ISA {

constexpr long samples_between_checks = 64;

// A layer that learns, and what is known of its neurons' neighbours.
template <class S>
struct Session {
    using T = typename S::number;
    Layer<S> layer;
    Neighbours<S> near;
    bool learns_widths;

    static long head() { return Layer<S>::round_up(sizeof(Session) / sizeof(T) + 1, 64 / sizeof(T)); }

    static long size(long K, long D, bool learns_widths) {
        return head() + Layer<S>::size(K, D, learns_widths) + Neighbours<S>::size(K, D);
    }

    Session(long K, long D, bool learns_widths, T* work)
        : layer(K, D, learns_widths, work + head()),
          near(layer, work + head() + Layer<S>::size(K, D, learns_widths)),
          learns_widths(learns_widths) {}

    static Session& in(T* work) { return *reinterpret_cast<Session*>(work); }
};

// ---- one sample, in its cases ---------------------------------------------------------------------

template <class S, class Weigh>
struct Centers {
    using T = typename S::number;
    static void begin(Layer<S>&) {}
    static void learn(Session<S>& session, Rule rule, bool repel, const T* x, T) {
        Layer<S>& layer = session.layer;
        if (!repel)
            attract(layer, rule, x);
        else if (rule.lists && session.near.hold(layer))
            learn_listed(layer, session.near, rule, Weigh(layer, rule), x);
        else
            learn_centers<false>(layer, rule, Weigh(layer, rule), x);
    }
};

template <class S>
struct Widths {
    using T = typename S::number;
    static void begin(Layer<S>& layer) { measure(layer); }
    static void learn(Session<S>& session, Rule rule, bool, const T* x, T sample_width) {
        measure_sample(session.layer, x);
        adapt(session.layer, rule, sample_width);
    }
};

// The pairs that Equation 2 needs after the centers moved serve the next sample's Equation 1.
template <class S>
struct Both {
    using T = typename S::number;
    static void begin(Layer<S>& layer) { measure(layer); }
    static void learn(Session<S>& session, Rule rule, bool repel, const T* x, T sample_width) {
        Layer<S>& layer = session.layer;
        if (repel) {
            measure_sample(layer, x);
            learn_centers<true>(layer, rule, OwnWidths<S>(layer, rule), x);
        } else {
            attract(layer, rule, x);
        }
        measure(layer);
        measure_sample(layer, x);
        adapt(layer, rule, sample_width);
    }
};

// ---- many samples ---------------------------------------------------------------------------------

template <class S, class Case>
Outcome learn_all(Session<S>& session, Rule rule, long n, const typename S::number* samples,
                  const typename S::number* sample_widths) {
    Layer<S>& layer = session.layer;
    auto learn = [&](long t) {
        bool repel = (rule.since_repulsion + t + 1) % rule.repulsion_every == 0;
        Case::learn(session, rule, repel, samples + t * layer.D, sample_widths ? sample_widths[t] : 0);
    };
    Case::begin(layer);
    for (long begin = 0; begin < n; begin += samples_between_checks) {
        long end = begin + samples_between_checks < n ? begin + samples_between_checks : n;
        layer.save();
        for (long t = begin; t < end; ++t) learn(t);
        if (layer.valid()) continue;
        layer.restore();  // a number that is not finite stays so: go back and see where it began
        Case::begin(layer);
        for (long t = begin; t < end; ++t) {
            layer.save();
            learn(t);
            if (layer.valid()) continue;
            long neuron = layer.first_invalid();
            layer.restore();  // what is handed back is always a valid state
            return {t, neuron};
        }
    }
    return {n, -1};
}

template <class S>
void open(long K, long D, bool learns_widths, const typename S::number* centers,
          const typename S::number* widths, typename S::number* work) {
    auto* session = new (work) Session<S>(K, D, learns_widths, work);
    session->layer.read(centers, widths);
}

template <class S>
Outcome learn(Rule rule, long n, const typename S::number* samples, const typename S::number* sample_widths,
              typename S::number* work) {
    auto& session = Session<S>::in(work);
    bool learns_centers = rule.learning_rate > 0;
    if (learns_centers && session.learns_widths)
        return learn_all<S, Both<S>>(session, rule, n, samples, sample_widths);
    if (session.learns_widths) return learn_all<S, Widths<S>>(session, rule, n, samples, sample_widths);
    if (learns_centers && rule.equal_widths)
        return learn_all<S, Centers<S, EqualWidths<S>>>(session, rule, n, samples, nullptr);
    if (learns_centers) return learn_all<S, Centers<S, OwnWidths<S>>>(session, rule, n, samples, nullptr);
    return {n, -1};
}

template <class S>
void write(typename S::number* work, typename S::number* centers, typename S::number* widths) {
    Session<S>::in(work).layer.write(centers, widths);
}

}  // namespace gaussian_neurons::GN_ISA
