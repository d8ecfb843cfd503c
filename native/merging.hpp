// Gaussians that are merged, two at a time, into fewer and larger ones: equation [24] of docs/algorithm.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
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
          members(k), count(counts, counts + k), value(k), costs(k * k), matrix(std::min(k, D) * std::min(k, D)) {
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
            alive.push_back(i);
        }
        for (Index i = 0; i < k; ++i)
            for (Index j = 0; j < i; ++j) renew_cost(j, i);
    }

    // What these groups, (k,) numbers in [0, k), lose of the log-evidence of all Gaussians by themselves.
    double cost_of(const int64_t* groups) {
        std::vector<std::vector<Index>> given(k);
        double cost = 0;
        for (Index i = 0; i < k; ++i) given[groups[i]].push_back(i), cost += value[i];
        for (const auto& group : given) {
            double samples = 0;
            for (Index i : group) samples += counts[i];
            if (!group.empty()) cost -= evidence(samples, log_volume(group));
        }
        return cost;
    }

    // Merge the pair that costs least until one group is left.
    Merges run() {
        Merges found;
        while (alive.size() > 1) {
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
            value[first] = evidence(count[first], log_volume(both));
            std::erase(alive, second);
            for (Index other : alive)
                if (other != first) renew_cost(std::min(first, other), std::max(first, other));
        }
        return found;
    }

  private:
    double evidence(double samples, double log_volume) const {
        return samples * (std::log(samples) - 0.5 * log_volume) - parameters;
    }

    void renew_cost(Index i, Index j) {
        both.assign(members[i].begin(), members[i].end());
        both.insert(both.end(), members[j].begin(), members[j].end());
        costs[i * k + j] = costs[j * k + i] = value[i] + value[j] - evidence(count[i] + count[j], log_volume(both));
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
        for (Index i : group)
            for (Index d = 0; d < D; ++d) mean[d] += counts[i] / all * centers[i * D + d];
        for (Index d = 0; d < D; ++d)
            for (Index e = 0; e <= d; ++e) {
                double sum = d == e ? variance : 0;
                for (Index i : group)
                    sum += counts[i] / all * (centers[i * D + d] - mean[d]) * (centers[i * D + e] - mean[e]);
                matrix[d * D + e] = sum;
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
    std::vector<double> count, value, costs, matrix, mean;
    std::vector<Index> alive, both;
};

}  // namespace gaussian_neurons
