// Neurons that are moved to where samples need them: equation [25] of docs/algorithm.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "index.hpp"

namespace gaussian_neurons {

class Relocation {
  public:
    // rows: (n, D). winners: (n,), the neuron of each row, or -1. background: (n,), minus the log-density of a row that
    // has none. groups and resting: (K,), see relocate(). centers, widths, counts and origins are changed in place.
    Relocation(Index K, Index D, Index n, const double* rows, const int64_t* winners, const double* background,
               const int64_t* groups, const bool* resting, double* centers, double* widths, double* counts,
               int64_t* origins)
        : K(K), D(D), n(n), rows(rows), background(background), centers(centers), widths(widths), counts(counts),
          origins(origins), group(groups, groups + K), rests(resting, resting + K), cells(K), splits(K + 1), losses(K * K), partner(K),
          axis(D), next(D) {
        for (Index t = 0; t < n; ++t)
            if (winners[t] >= 0)
                cells[winners[t]].push_back(t);
            else
                unclaimed.push_back(t);
        for (Index i = 0; i < K; ++i) origins[i] = i;
        for (Index i = 0; i < K; ++i) splits[i] = split_of(i);
        splits[K] = claim();
        for (Index i = 0; i < K; ++i)
            for (Index j = 0; j < i; ++j) losses[i * K + j] = losses[j * K + i] = loss(i, j);
        for (Index i = 0; i < K; ++i) renew_partner(i);
    }

    // Each split needs a neuron that a merge sets free, and has to gain `margin` nats more than the merge loses.
    void run(double margin) {
        for (Index times = 0; times < K; ++times) {
            Index split = 0;
            for (Index i = 1; i <= K; ++i)
                if (splits[i].gain > splits[split].gain) split = i;
            Index keeper = -1;
            double least = infinity;
            for (Index i = 0; i < K; ++i) {
                if (i == split) continue;
                const Index other = partner[i] == split ? cheapest(i, split) : partner[i];
                if (other >= 0 && losses[i * K + other] < least) keeper = i, least = losses[i * K + other];
            }
            if (keeper < 0 || !(splits[split].gain - least > margin)) return;
            Index freed = partner[keeper] == split ? cheapest(keeper, split) : partner[keeper];
            if (counts[freed] > counts[keeper]) std::swap(freed, keeper);
            merge(keeper, freed);
            place(split, freed);
            for (Index i : {keeper, freed, split})
                if (i < K) renew(i);
        }
    }

  private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    struct Part {
        std::vector<Index> rows;
        std::vector<double> center;
        double width = 0;
    };
    struct Split {
        double gain = -infinity;
        Part stays, leaves;
    };

    const double* row(Index t) const { return rows + t * D; }

    double squared(const double* a, const double* b) const {
        double sum = 0;
        for (Index d = 0; d < D; ++d) sum += (a[d] - b[d]) * (a[d] - b[d]);
        return sum;
    }

    // One Gaussian for these rows, among which one more row counts that has the given width; minus their log-density.
    double fit(Part& part, double width) const {
        const double m = double(part.rows.size());
        part.center.assign(D, 0.0);
        for (Index t : part.rows)
            for (Index d = 0; d < D; ++d) part.center[d] += row(t)[d] / m;
        double sum = 0;
        for (Index t : part.rows) sum += squared(row(t), part.center.data());
        part.width = (2 * sum / double(D) + width) / (m + 1);
        return sum / part.width + 0.5 * m * double(D) * std::log(part.width);
    }

    // Minus the log-density of the rows that neuron i wins.
    double cost_of(Index i) const {
        double sum = 0.5 * double(cells[i].size()) * double(D) * std::log(widths[i]);
        for (Index t : cells[i]) sum += squared(row(t), centers + i * D) / widths[i];
        return sum;
    }

    // What two neurons instead of neuron i gain: the rows that it wins, divided by two rounds of k-means. If it rests,
    // what another neuron gains that takes these rows.
    Split split_of(Index i) {
        const auto& cell = cells[i];
        Split found;
        if (cell.size() < (rests[i] ? 2 : 4)) return found;
        if (rests[i]) {
            found.leaves.rows = cell;
            const double cost = fit(found.leaves, widths[i]);
            found.gain = cost_of(i) - cost;
            return found;
        }
        std::vector<double> mean(D, 0.0);
        for (Index t : cell)
            for (Index d = 0; d < D; ++d) mean[d] += row(t)[d] / double(cell.size());
        if (!principal_axis(cell, mean)) return found;
        std::vector<bool> side(cell.size());
        for (std::size_t k = 0; k < cell.size(); ++k) {
            double along = 0;
            for (Index d = 0; d < D; ++d) along += (row(cell[k])[d] - mean[d]) * axis[d];
            side[k] = along > 0;
        }
        double cost = 0;
        for (int round = 0;; ++round) {
            for (Part* part : {&found.stays, &found.leaves}) part->rows.clear();
            for (std::size_t k = 0; k < cell.size(); ++k)
                (side[k] ? found.stays : found.leaves).rows.push_back(cell[k]);
            if (found.stays.rows.size() < 2 || found.leaves.rows.size() < 2) return {};
            cost = fit(found.stays, widths[i]) + fit(found.leaves, widths[i]);
            if (round == 2) break;
            for (std::size_t k = 0; k < cell.size(); ++k)
                side[k] = squared(row(cell[k]), found.stays.center.data()) <
                          squared(row(cell[k]), found.leaves.center.data());
        }
        const double* center = centers + i * D;
        if (squared(found.leaves.center.data(), center) < squared(found.stays.center.data(), center))
            std::swap(found.stays, found.leaves);
        found.gain = cost_of(i) - cost;
        return found;
    }

    // Three rounds of the power method on the scatter of rows, from the row that is farthest from the mean.
    bool principal_axis(const std::vector<Index>& cell, const std::vector<double>& mean) {
        Index farthest = cell[0];
        for (Index t : cell)
            if (squared(row(t), mean.data()) > squared(row(farthest), mean.data())) farthest = t;
        for (Index d = 0; d < D; ++d) axis[d] = row(farthest)[d] - mean[d];
        for (int round = 0; round < 3; ++round) {
            std::fill(next.begin(), next.end(), 0.0);
            for (Index t : cell) {
                double along = 0;
                for (Index d = 0; d < D; ++d) along += (row(t)[d] - mean[d]) * axis[d];
                for (Index d = 0; d < D; ++d) next[d] += along * (row(t)[d] - mean[d]);
            }
            double length = 0;
            for (Index d = 0; d < D; ++d) length += next[d] * next[d];
            length = std::sqrt(length);
            if (!(length > 0) || !std::isfinite(length)) return false;
            for (Index d = 0; d < D; ++d) axis[d] = next[d] / length;
        }
        return true;
    }

    // What a neuron on the rows that have none gains.
    Split claim() {
        Split found;
        if (unclaimed.size() < 2) return found;
        found.leaves.rows = unclaimed;
        std::vector<double> sorted(widths, widths + K);
        std::nth_element(sorted.begin(), sorted.begin() + K / 2, sorted.end());
        const double cost = fit(found.leaves, sorted[K / 2]);
        double now = 0;
        for (Index t : unclaimed) now += background[t];
        found.gain = now - cost;
        return found;
    }

    // What one Gaussian instead of those of neurons i and j loses.
    double loss(Index i, Index j) const {
        if (counts[i] == 0 || counts[j] == 0) return 0;
        if (group[i] != group[j]) return infinity;
        const double all = counts[i] + counts[j];
        return 0.5 * double(D) *
               (all * std::log(joint_width(i, j)) - counts[i] * std::log(widths[i]) - counts[j] * std::log(widths[j]));
    }

    double joint_width(Index i, Index j) const {
        const double all = counts[i] + counts[j], p = counts[i] / all, q = counts[j] / all;
        return p * widths[i] + q * widths[j] + 2 * p * q / double(D) * squared(centers + i * D, centers + j * D);
    }

    void merge(Index keeper, Index freed) {
        if (counts[freed] > 0) {
            const double q = counts[freed] / (counts[keeper] + counts[freed]);
            widths[keeper] = joint_width(keeper, freed);
            for (Index d = 0; d < D; ++d) {
                double& place = centers[keeper * D + d];
                place += q * (centers[freed * D + d] - place);
            }
            counts[keeper] += counts[freed];
        }
        cells[keeper].insert(cells[keeper].end(), cells[freed].begin(), cells[freed].end());
        cells[freed].clear();
    }

    void place(Index split, Index freed) {
        if (split < K) {
            if (rests[split])
                cells[split].clear();
            else
                become(split, splits[split].stays);
        }
        become(freed, splits[split].leaves);
        origins[freed] = -1;
        group[freed] = -1;
        rests[freed] = false;
        if (split == K) splits[K] = {};
    }

    void become(Index i, const Part& part) {
        std::copy(part.center.begin(), part.center.end(), centers + i * D);
        widths[i] = part.width;
        counts[i] = double(part.rows.size());
        cells[i] = part.rows;
    }

    void renew(Index i) {
        splits[i] = split_of(i);
        for (Index j = 0; j < K; ++j)
            if (j != i) losses[i * K + j] = losses[j * K + i] = loss(i, j);
        renew_partner(i);
        for (Index j = 0; j < K; ++j)
            if (partner[j] == i || (j != i && (partner[j] < 0 || losses[j * K + i] <= losses[j * K + partner[j]])))
                renew_partner(j);
    }

    void renew_partner(Index i) { partner[i] = cheapest(i, -1); }

    // The neuron with which i is merged at the least loss, other than `not_with`; -1 if there is none.
    Index cheapest(Index i, Index not_with) const {
        Index found = -1;
        for (Index j = 0; j < K; ++j)
            if (j != i && j != not_with && losses[i * K + j] < (found < 0 ? infinity : losses[i * K + found])) found = j;
        return found;
    }

    Index K, D, n;
    const double *rows, *background;
    double *centers, *widths, *counts;
    int64_t* origins;
    std::vector<int64_t> group;
    std::vector<bool> rests;
    std::vector<std::vector<Index>> cells;
    std::vector<Index> unclaimed;
    std::vector<Split> splits;  // of each neuron, and last of the rows without one
    std::vector<double> losses;
    std::vector<Index> partner;
    std::vector<double> axis, next;
};

}  // namespace gaussian_neurons
