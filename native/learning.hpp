// The learning rule: which passes a sample takes in each case, and many samples one after another.
#pragma once

#include "passes.hpp"

namespace gaussian_neurons::GN_ISA {

constexpr long samples_between_checks = 64;

// ---- one sample, in its cases ---------------------------------------------------------------------

template <class S, class Weigh>
struct Centers {
    using T = typename S::number;
    static void begin(Layer<S>&) {}
    static void learn(Layer<S>& layer, Rule rule, bool repel, const T* x, T) {
        if (repel)
            learn_centers<false>(layer, rule, Weigh(layer, rule), x);
        else
            attract(layer, rule, x);
    }
};

template <class S>
struct Widths {
    using T = typename S::number;
    static void begin(Layer<S>& layer) { measure(layer); }
    static void learn(Layer<S>& layer, Rule rule, bool, const T* x, T sample_width) {
        measure_sample(layer, x);
        adapt(layer, rule, sample_width);
    }
};

// The pairs that Equation 2 needs after the centers moved serve the next sample's Equation 1.
template <class S>
struct Both {
    using T = typename S::number;
    static void begin(Layer<S>& layer) { measure(layer); }
    static void learn(Layer<S>& layer, Rule rule, bool repel, const T* x, T sample_width) {
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
Outcome learn_all(Layer<S>& layer, Rule rule, long n, const typename S::number* samples,
                  const typename S::number* sample_widths) {
    auto learn = [&](long t) {
        bool repel = (rule.since_repulsion + t + 1) % rule.repulsion_every == 0;
        Case::learn(layer, rule, repel, samples + t * layer.D, sample_widths ? sample_widths[t] : 0);
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
Outcome learn(Rule rule, long K, long D, long n, const typename S::number* samples,
              const typename S::number* sample_widths, typename S::number* centers,
              typename S::number* widths, typename S::number* work) {
    bool learn_widths = rule.width_learning_rate > 0 && sample_widths;
    Layer<S> layer(K, D, learn_widths, work);
    layer.read(centers, widths);
    bool learn_centers = rule.learning_rate > 0;
    Outcome outcome = {n, -1};
    if (learn_centers && learn_widths)
        outcome = learn_all<S, Both<S>>(layer, rule, n, samples, sample_widths);
    else if (learn_widths)
        outcome = learn_all<S, Widths<S>>(layer, rule, n, samples, sample_widths);
    else if (learn_centers && rule.equal_widths)
        outcome = learn_all<S, Centers<S, EqualWidths<S>>>(layer, rule, n, samples, sample_widths);
    else if (learn_centers)
        outcome = learn_all<S, Centers<S, OwnWidths<S>>>(layer, rule, n, samples, sample_widths);
    layer.write(centers, widths);
    return outcome;
}

}  // namespace gaussian_neurons::GN_ISA
