// Gaussians that are merged, two at a time, into fewer and larger ones: equation [24] of docs/algorithm.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "index.hpp"

namespace gaussian_neurons {

struct Merges {
    std::vector<int64_t> first, second;  // for each merge: the second group became part of the first
    std::vector<double> cost;            // what the merge loses of the log-evidence
};

// The log-determinant of a positive definite matrix, of which the lower triangle is given and overwritten.
inline double log_determinant(Index n, double* matrix) {
    double sum = 0;
    for (Index i = 0; i < n; ++i) {
        double* row = matrix + i * n;
        for (Index j = 0; j <= i; ++j) {
            const double* column = matrix + j * n;
            double rest = row[j];
            for (Index e = 0; e < j; ++e) rest -= row[e] * column[e];
            if (j < i) {
                row[j] = rest / column[j];
            } else {
                rest = std::max(rest, std::numeric_limits<double>::min());  // rounding
                row[i] = std::sqrt(rest);
                sum += std::log(rest);
            }
        }
    }
    return sum;
}

// Each group is described by one Gaussian. Its covariance is v I + B: v is the mean variance of its members, and B
// the scatter of their centers. The determinant of v I + B is that of a D x D matrix or, up to a power of v, that
// of I + H / v, where H has the inner products of the centers of the r members: the smaller matrix is used.
class Merging {
  public:
    // centers: (k, D). variances: (k,), the same in all directions. counts: (k,), samples of each Gaussian.
    // directions: how many of the D directions the parameters of a group are counted for.
    Merging(Index k, Index D, const double* centers, const double* variances, const double* counts, double directions)
        : k(k), D(D), centers(centers), variances(variances), counts(counts), products(k * k), middle(D),
          members(k), count(counts, counts + k), value(k), current(k), costs(k * k), matrix(std::min(k, D) * std::min(k, D)), offset(D) {
        double all = 0;
        for (Index i = 0; i < k; ++i) all += count[i];
        parameters = 0.5 * (2 * directions + 1) * std::log(all);
        for (Index d = 0; d < D; ++d)
            for (Index i = 0; i < k; ++i) middle[d] += centers[i * D + d] / double(k);
        for (Index i = 0; i < k && D > 1; ++i)
            for (Index j = 0; j <= i; ++j) {
                double sum = 0;
                for (Index d = 0; d < D; ++d)
                    sum += (centers[i * D + d] - middle[d]) * (centers[j * D + d] - middle[d]);
                products[i * k + j] = products[j * k + i] = sum;
            }
        for (Index i = 0; i < k; ++i) {
            members[i] = {i};
            value[i] = evidence(count[i], log_volume(members[i]));
        }
    }

    // Join groups, divide groups, and move single Gaussians between groups while that increases the log-evidence by more
    // than `margin`; the best change first. groups: (k,) numbers in [0, k). Returns the log-evidence of the groups less
    // that of each Gaussian by itself.
    double refine(int64_t* groups, double margin) {  // INOUT
        start(groups);
        const double rounding = 1e-9 * std::abs(std::accumulate(now.begin(), now.end(), 0.0));
        for (Change best = best_change(); best.gain > std::max(margin, rounding); best = best_change()) {
            std::erase_if(group[best.source], [&](Index i) { return contains(best.part, i); });
            group[best.target].insert(group[best.target].end(), best.part.begin(), best.part.end());
            for (Index i : best.part) groups[i] = best.target;
            renew(best.source, groups), renew(best.target, groups);
        }
        return std::accumulate(now.begin(), now.end(), 0.0) - std::accumulate(value.begin(), value.end(), 0.0);
    }

    // Merge the pair that costs least until one group is left.
    Merges run() {
        std::vector<Index> all(k);
        std::iota(all.begin(), all.end(), 0);
        return merged(all, 1);
    }

  private:
    // A part of a group that is moved to another one, which can be empty.
    struct Change {
        double gain = 0;
        Index source = 0, target = 0;
        std::vector<Index> part;
    };

    // Merge the pair that costs least, of these Gaussians each by itself, until `left` groups are left in `alive`.
    Merges merged(const std::vector<Index>& single, std::size_t left) {
        alive = single;
        for (Index i : alive) members[i] = {i}, count[i] = counts[i], current[i] = value[i];
        for (std::size_t a = 0; a < alive.size(); ++a)
            for (std::size_t b = 0; b < a; ++b) renew_cost(alive[b], alive[a]);
        Merges found;
        while (alive.size() > left) {
            Index first = alive[0], second = alive[1];
            for (std::size_t a = 0; a < alive.size(); ++a)
                for (std::size_t b = a + 1; b < alive.size(); ++b)
                    if (costs[alive[a] * k + alive[b]] < costs[first * k + second])
                        first = alive[a], second = alive[b];
            found.first.push_back(first);
            found.second.push_back(second);
            found.cost.push_back(costs[first * k + second]);
            auto& both = members[first];
            both.insert(both.end(), members[second].begin(), members[second].end());
            count[first] += count[second];
            current[first] = evidence(count[first], log_volume(both));
            std::erase(alive, second);
            for (Index other : alive)
                if (other != first) renew_cost(std::min(first, other), std::max(first, other));
        }
        return found;
    }

    void start(const int64_t* groups) {
        group.assign(k, {}), halves.assign(k, {});
        now.assign(k, 0.0), without.assign(k, 0.0), with.assign(k * k, 0.0), joint.assign(k * k, 0.0);
        for (Index i = 0; i < k; ++i) group[groups[i]].push_back(i);
        for (Index g = 0; g < k; ++g)
            if (!group[g].empty()) renew(g, groups);
    }

    // What changes of group g gain, after its members have changed.
    void renew(Index g, const int64_t* groups) {
        now[g] = evidence_of(group[g]);
        for (Index i = 0; i < k && !group[g].empty(); ++i) {
            both = group[g];
            if (groups[i] == g)
                std::erase(both, i), without[i] = evidence_of(both);
            else
                both.push_back(i), with[i * k + g] = evidence_of(both);
        }
        for (Index h = 0; h < k && !group[g].empty(); ++h) {
            if (h == g || group[h].empty()) continue;
            both = group[g];
            both.insert(both.end(), group[h].begin(), group[h].end());
            joint[g * k + h] = joint[h * k + g] = evidence_of(both);
        }
        halves[g] = {};
        if (group[g].size() < 2) return;
        merged(group[g], 2);
        halves[g] = {current[alive[0]] + current[alive[1]] - now[g], g, g, members[alive[1]]};
    }

    // The change that gains most.
    Change best_change() const {
        Change best;
        Index empty = 0;
        while (empty < k && !group[empty].empty()) ++empty;
        for (Index g = 0; g < k; ++g) {
            if (group[g].empty()) continue;
            if (empty < k && halves[g].gain > best.gain) best = halves[g], best.target = empty;
            for (Index h = 0; h < k; ++h) {
                if (h == g || group[h].empty()) continue;
                if (h < g && joint[g * k + h] - now[g] - now[h] > best.gain)
                    best = {joint[g * k + h] - now[g] - now[h], g, h, group[g]};
                for (Index i : group[g]) {
                    const double gain = without[i] + with[i * k + h] - now[g] - now[h];
                    if (group[g].size() > 1 && gain > best.gain) best = {gain, g, h, {i}};
                }
            }
        }
        return best;
    }

    static bool contains(const std::vector<Index>& part, Index i) {
        return std::find(part.begin(), part.end(), i) != part.end();
    }

    double evidence(double samples, double log_volume) const {
        return samples * (std::log(samples) - 0.5 * log_volume) - parameters;
    }

    double evidence_of(const std::vector<Index>& group) {
        double samples = 0;
        for (Index i : group) samples += counts[i];
        return group.empty() ? 0 : evidence(samples, log_volume(group));
    }

    void renew_cost(Index i, Index j) {
        both.assign(members[i].begin(), members[i].end());
        both.insert(both.end(), members[j].begin(), members[j].end());
        costs[i * k + j] = costs[j * k + i] = current[i] + current[j] - evidence(count[i] + count[j], log_volume(both));
    }

    // log |v I + B| of the group with these members.
    double log_volume(const std::vector<Index>& group) {
        const Index r = Index(group.size());
        double all = 0, variance = 0;
        for (Index i : group) all += counts[i];
        for (Index i : group) variance += counts[i] / all * variances[i];
        if (r == 1) return double(D) * std::log(variance);
        return D <= r ? by_scatter(group, all, variance) : by_products(group, all, variance);
    }

    double by_scatter(const std::vector<Index>& group, double all, double variance) {
        mean.assign(D, 0.0);
        for (Index i : group) {
            const double weight = counts[i] / all;
            for (Index d = 0; d < D; ++d) mean[d] += weight * centers[i * D + d];
        }
        for (Index d = 0; d < D; ++d)
            for (Index e = 0; e <= d; ++e) matrix[d * D + e] = d == e ? variance : 0;
        for (Index i : group) {
            const double weight = counts[i] / all;
            for (Index d = 0; d < D; ++d) offset[d] = centers[i * D + d] - mean[d];
            for (Index d = 0; d < D; ++d) {
                const double weighted = weight * offset[d];
                for (Index e = 0; e <= d; ++e) matrix[d * D + e] += weighted * offset[e];
            }
        }
        return log_determinant(D, matrix.data());
    }

    double by_products(const std::vector<Index>& group, double all, double variance) {
        const Index r = Index(group.size());
        mean.assign(r, 0.0);  // inner products of the members with the mean of the group
        double square = 0;    // of the mean with itself
        for (Index a = 0; a < r; ++a) {
            for (Index j : group) mean[a] += counts[j] / all * products[group[a] * k + j];
            square += counts[group[a]] / all * mean[a];
        }
        for (Index a = 0; a < r; ++a)
            for (Index b = 0; b <= a; ++b) {
                const double inner = products[group[a] * k + group[b]] - mean[a] - mean[b] + square;
                const double weight = std::sqrt(counts[group[a]] * counts[group[b]]) / all;
                matrix[a * r + b] = (a == b) + weight * inner / variance;
            }
        return double(D) * std::log(variance) + log_determinant(r, matrix.data());
    }

    Index k, D;
    const double *centers, *variances, *counts;
    double parameters;  // what the parameters of a group cost
    std::vector<double> products, middle;
    std::vector<std::vector<Index>> members;
    std::vector<double> count, value, current, costs, matrix, mean, offset;  // value: of each Gaussian by itself
    std::vector<Index> alive, both;
    std::vector<std::vector<Index>> group;  // of `refine`: the members of each group, none for a free number ...
    std::vector<double> now;                // ... their log-evidence ...
    std::vector<double> without, with;      // ... that less a member (k,), with another Gaussian (k, k) ...
    std::vector<double> joint;              // ... of two groups as one (k, k) ...
    std::vector<Change> halves;             // ... and the best division of each
};

}  // namespace gaussian_neurons
