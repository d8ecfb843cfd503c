// Hierarchical clustering of groups of rows, with the silhouette after every merge.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace gaussian_neurons {

struct Joined {
    std::vector<int64_t> first, second;  // for each merge: the second group became part of the first
    std::vector<double> silhouettes;     // before the first merge and after each merge
};

// Ward's method: the next two groups to merge are those that increase the variance least. The silhouette of a
// row compares its mean distances to its own group and to the nearest other group.
class Grouping {
  public:
    // distances: (n, n) between rows. label: (n,) group of each row, 0 to k - 1; every group has a row.
    // gaps: (k, k) squared distances between the centers of the groups.
    Grouping(int64_t n, int64_t k, const double* distances, const int64_t* label, const double* gaps)
        : n(n), k(k), label(label, label + n), count(k, 0.0), sums(n * k, 0.0), cost(k * k), own(n),
          other(n) {
        for (int64_t a = 0; a < n; ++a) count[label[a]] += 1;
        for (int64_t i = 0; i < k; ++i) alive.push_back(i);
        for (int64_t b = 0; b < n; ++b) {
            double* to = &sums[label[b] * n];
            for (int64_t a = 0; a < n; ++a) to[a] += distances[b * n + a];
        }
        for (int64_t i = 0; i < k; ++i)
            for (int64_t j = 0; j < k; ++j)
                cost[i * k + j] = gaps[i * k + j] * count[i] * count[j] / (count[i] + count[j]);
    }

    // Merge until two groups are left.
    Joined join() {
        Joined found;
        found.silhouettes.push_back(alive.size() > 1 ? silhouette() : 0.0);
        while (alive.size() > 2) {
            const auto [i, j] = join_next();
            found.first.push_back(i);
            found.second.push_back(j);
            found.silhouettes.push_back(silhouette());
        }
        return found;
    }

  private:
    double silhouette() {
        constexpr double far = std::numeric_limits<double>::infinity();
        std::fill(other.begin(), other.end(), far);
        for (int64_t m : alive) {
            const double* sum = &sums[m * n];
            const double per_row = 1 / count[m], per_other = 1 / std::max(count[m] - 1, 1.0);
            for (int64_t a = 0; a < n; ++a) {
                const bool mine = label[a] == m;
                own[a] = mine ? sum[a] * per_other : own[a];
                const double mean = mine ? far : sum[a] * per_row;
                other[a] = mean < other[a] ? mean : other[a];
            }
        }
        double total = 0;
        for (int64_t a = 0; a < n; ++a) {
            const double larger = std::max(own[a], other[a]);
            if (count[label[a]] > 1 && larger > 0) total += (other[a] - own[a]) / larger;
        }
        return total / double(n);
    }

    std::pair<int64_t, int64_t> join_next() {
        int64_t i = 0, j = 0;
        double least = std::numeric_limits<double>::infinity();
        for (size_t a = 0; a < alive.size(); ++a)
            for (size_t b = a + 1; b < alive.size(); ++b)
                if (cost[alive[a] * k + alive[b]] < least || j == 0)
                    i = alive[a], j = alive[b], least = cost[i * k + j];
        for (int64_t m : alive) {  // Lance and Williams 1967
            if (m == i || m == j) continue;
            const double joined = ((count[i] + count[m]) * cost[i * k + m] +
                                   (count[j] + count[m]) * cost[j * k + m] - count[m] * least) /
                                  (count[i] + count[j] + count[m]);
            cost[i * k + m] = cost[m * k + i] = joined;
        }
        count[i] += count[j];
        for (int64_t a = 0; a < n; ++a) {
            sums[i * n + a] += sums[j * n + a];
            if (label[a] == j) label[a] = i;
        }
        alive.erase(std::find(alive.begin(), alive.end(), j));
        return {i, j};
    }

    int64_t n, k;
    std::vector<int64_t> label;
    std::vector<double> count;
    std::vector<int64_t> alive;      // groups that are not part of another, ascending
    std::vector<double> sums, cost;  // sums: (k, n) sum of distances from each row to all rows of a group
    std::vector<double> own, other;
};

}  // namespace gaussian_neurons
